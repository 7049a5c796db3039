import Foundation

/// A figure of one round.
typealias Measure = () async throws -> Double

private let rounds = 31

/// Measures each subject once a round, in turn, after one round that does not count, and prints what came out as one line of JSON.
/// Kassa is the first, so the names are written in the order given.
func compare(_ title: String, unit: String, _ subjects: [(name: String, measure: Measure)], bars: [String: Double] = [:]) async throws {
    var samples = [[Double]](repeating: [], count: subjects.count)
    for round in 0...rounds {
        for (index, subject) in subjects.enumerated() {
            let figure = try await subject.measure()
            if round > 0 { samples[index].append(figure) }
        }
    }
    let figures = zip(subjects, samples).map { subject, samples in "\"\(subject.name)\":\(samples)" }
    let limits = bars.map { name, bar in "\"\(name)\":\(bar)" }
    let parts = [
        "\"title\":\"\(title)\"", "\"unit\":\"\(unit)\"",
        "\"samples\":{\(figures.joined(separator: ","))}", "\"bars\":{\(limits.joined(separator: ","))}",
    ]
    print("{\(parts.joined(separator: ","))}")
}

/// How many microseconds one of so many takes.
func microsecondsEach(_ times: Int, _ work: () async throws -> Void) async rethrows -> Double {
    let started = ContinuousClock.now
    try await work()
    let took = started.duration(to: .now).components
    return (Double(took.seconds) * 1e6 + Double(took.attoseconds) / 1e12) / Double(times)
}
