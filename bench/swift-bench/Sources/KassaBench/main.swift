import Foundation
import Kassa

private let oneByOne = 200

private func compareQueries(_ url: String) async throws {
    let queries = try clients.map { client in (name: client.name, ask: try client.make(url)) }
    let alone = queries.map { query in
        (
            name: query.name,
            measure: { try await microsecondsEach(oneByOne) { for _ in 0..<oneByOne { try await query.ask() } } } as Measure
        )
    }
    try await compare("One by one", unit: "us", alone, bars: ["URLSession": 0.4])
    let together = queries.map { query in
        (name: query.name, measure: { try await microsecondsEach(5 * atOnce) { try await manyAtOnce(query.ask) } } as Measure)
    }
    try await compare("\(atOnce) at once", unit: "us each", together, bars: ["URLSession": 1.0])
}

private func manyAtOnce(_ ask: @escaping Query) async throws {
    for _ in 0..<5 {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<atOnce { group.addTask { try await ask() } }
            try await group.waitForAll()
        }
    }
}

private func compareQr() async throws {
    let url = String(repeating: "https://pay.example.kg/q?id=17&", count: 20)
    for length in [30, 125, 500] {
        let text = String(url.prefix(length))
        let draw: Measure = {
            try await microsecondsEach(10) { for _ in 0..<10 { _ = try QrCode(text).png() } }
        }
        try await compare("QR code as PNG, \(length) bytes", unit: "us", [("Kassa", draw)])
    }
}

/// In milliseconds, with the client's start.
private func firstQuery(_ name: String, _ url: String) async throws -> Double {
    guard let client = clients.first(where: { client in client.name == name }) else { fatalError("no client \(name)") }
    let microseconds = try await microsecondsEach(1) {
        let ask = try client.make(url)
        try await ask()
    }
    return microseconds / 1e3
}

let arguments = CommandLine.arguments
switch arguments[1] {
case "queries": try await compareQueries(arguments[2])
case "qr": try await compareQr()
case "first": print(try await firstQuery(arguments[2], arguments[3]))
default: fatalError("queries, qr or first")
}
