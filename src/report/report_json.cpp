#include "report/report_json.h"

namespace tandem {
namespace {

Json summary_json(const RunReport& r) {
  Json out = Json::object();
  out.set("text", headline(r)).set("running", r.totals.running);
  out.set("steps", r.totals.steps).set("seconds", r.totals.seconds);
  out.set("target_tokens", r.totals.tokens).set("workers", r.totals.workers);
  out.set("hosts", r.totals.hosts);
  if (r.totals.seconds_left) out.set("seconds_left", *r.totals.seconds_left);
  if (r.totals.spent) out.set("cost", *r.totals.spent).set("currency", r.totals.currency);
  if (const EvalRecord* best = best_eval(r.log)) {
    out.set("best_validation_loss", best->val_loss).set("best_step", best->step);
  }
  if (!r.log.evals.empty()) {
    const EvalRecord& last = r.log.evals.back().record;
    out.set("bleu", last.bleu);
    out.set("chrf", last.chrf);
  }
  if (r.log.ended()) out.set("ended", r.log.ends.back().record.text);
  return out;
}

}  // namespace

Json finding_json(const Finding& f) {
  return Json::object()
      .set("key", f.key)
      .set("question", f.question)
      .set("class", name_of(f.verdict))
      .set("verdict", f.text)
      .set("evidence", f.evidence)
      .set("confidence", name_of(f.confidence))
      .set("advice", f.advice);
}

Json report_json(const RunReport& r) {
  Json answers = Json::array(), findings = Json::array();
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    Json::Object members = {{"id", Json(i + 1)}};
    const Json answer = finding_json(r.answers[i]);
    members.insert(members.end(), answer.members().begin(), answer.members().end());
    answers.push(Json::object(std::move(members)));
  }
  for (const Finding& f : r.findings) findings.push(finding_json(f));
  return Json::object()
      .set("version", 1)
      .set("run", r.name)
      .set("summary", summary_json(r))
      .set("answers", std::move(answers))
      .set("findings", std::move(findings));
}

}  // namespace tandem
