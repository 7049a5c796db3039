/// What became of each vector, by its name, a few at once.
func sideBySide(_ vectors: [Vector], atOnce: Int, _ run: @escaping @Sendable (Vector) async -> [String]) async -> [String: [String]] {
    await withTaskGroup(of: (String, [String]).self) { group in
        var waiting = vectors.makeIterator()
        var results: [String: [String]] = [:]
        func startNext() {
            guard let vector = waiting.next() else { return }
            group.addTask { (vector.name, await run(vector)) }
        }
        for _ in 0..<atOnce { startNext() }
        for await (name, problems) in group {
            results[name] = problems
            startNext()
        }
        return results
    }
}
