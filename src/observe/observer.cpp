#include "observe/observer.h"

namespace tandem {

void ObserverList::add(std::string name, std::unique_ptr<Observer> observer) {
  entries_.push_back({std::move(name), std::move(observer)});
}

}  // namespace tandem
