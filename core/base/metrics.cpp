#include "core/base/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <memory>
#include <unordered_map>

namespace dash::metrics {
namespace {

constexpr std::array kAll = {
    &kHttpRequests,
    &kHttpSeconds,
    &kDecisionSeconds,
    &kEngineBuilds,
    &kEngineRestarts,
    &kAuditAppendSeconds,
    &kAuditEntries,
    &kStoreBytes,
    &kStoreSeconds,
    &kRetries,
    &kQueuedJobs,
    &kOldestJob,
    &kDatabaseConnections,
    &kDatabaseLimit,
    &kDatabaseWaiting,
    &kAgentsOnline,
    &kConnections,
    &kPartBuffersFree,
    &kPoolThreads,
    &kPoolBusy,
    &kPoolQueued,
    &kPoolRefused,
    &kCheckOk,
    &kDegraded,
};

// Upper bounds in seconds, from a cached read to a part on a slow store.
const prometheus::Histogram::BucketBoundaries kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                         0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};

prometheus::MetricType type_of(const Metric& metric) {
  if (metric.type == Type::counter) return prometheus::MetricType::Counter;
  if (metric.type == Type::gauge) return prometheus::MetricType::Gauge;
  return prometheus::MetricType::Histogram;
}

prometheus::Labels labels_of(const Metric& metric, const std::vector<std::string>& values) {
  prometheus::Labels out;
  for (std::size_t i = 0; i < values.size(); ++i) out.emplace(metric.labels.at(i), values[i]);
  return out;
}

template <class Kind>
using Families = std::unordered_map<const Metric*, std::unique_ptr<prometheus::Family<Kind>>>;

template <class Kind>
void add_family(const Metric& metric, Families<Kind>& into) {
  into[&metric] = std::make_unique<prometheus::Family<Kind>>(std::string(metric.name),
                                                             std::string(metric.help), prometheus::Labels());
}

template <class Kind>
void collect(Families<Kind>& from, std::map<std::string, prometheus::MetricFamily>& into) {
  for (auto& [metric, family] : from)
    for (auto& collected : family->Collect()) into[collected.name].metric = std::move(collected.metric);
}

// The families live as long as the process, so that a thread that ends late may still count.
struct State {
  State() {
    for (const auto* metric : kAll) {
      if (metric->type == Type::counter) add_family(*metric, counters);
      if (metric->type == Type::gauge) add_family(*metric, gauges);
      if (metric->type == Type::histogram) add_family(*metric, histograms);
    }
  }
  Families<prometheus::Counter> counters;
  Families<prometheus::Gauge> gauges;
  Families<prometheus::Histogram> histograms;
};

State& state() {
  static auto* const the_state = new State();
  return *the_state;
}

prometheus::ClientMetric sample_value(const Sample& sample) {
  prometheus::ClientMetric out;
  for (auto& [name, value] : labels_of(*sample.metric, sample.labels)) out.label.push_back({name, value});
  if (sample.metric->type == Type::counter)
    out.counter.value = sample.value;
  else
    out.gauge.value = sample.value;
  return out;
}

}  // namespace

std::span<const Metric* const> all() { return kAll; }

void add(const Metric& counter, std::vector<std::string> labels, double amount) {
  state().counters.at(&counter)->Add(labels_of(counter, labels)).Increment(amount);
}

void set(const Metric& gauge, std::vector<std::string> labels, double value) {
  state().gauges.at(&gauge)->Add(labels_of(gauge, labels)).Set(value);
}

void observe(const Metric& histogram, std::vector<std::string> labels, std::chrono::duration<double> took) {
  state().histograms.at(&histogram)->Add(labels_of(histogram, labels), kBounds).Observe(took.count());
}

std::string expose(const Samples& samples) {
  std::map<std::string, prometheus::MetricFamily> families;
  for (const auto* metric : kAll) {
    std::string name(metric->name);
    families[name] = {name, std::string(metric->help), type_of(*metric), {}};
  }
  collect(state().counters, families);
  collect(state().gauges, families);
  collect(state().histograms, families);
  for (const auto& sample : samples)
    families[std::string(sample.metric->name)].metric.push_back(sample_value(sample));
  std::vector<prometheus::MetricFamily> list;
  for (auto& [name, family] : families) list.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(list);
}

}  // namespace dash::metrics
