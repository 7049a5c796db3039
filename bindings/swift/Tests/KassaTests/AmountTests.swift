import Foundation
import Kassa
import Testing

@Suite struct AmountTests {
    @Test(arguments: [
        ("100.10", "100.1"), ("0", "0"), ("-0.00", "0"), ("007", "7"), ("-3.133", "-3.133"), ("0.05", "0.05"),
        ("79228162514264337593543950335", "79228162514264337593543950335"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ])
    func aTextIsReadDigitForDigit(_ text: String, _ number: String) throws {
        #expect(try Decimal(exactly: text).description == number)
    }

    @Test(arguments: ["", " 1", "1 ", "+1", "1.", ".5", "12,50", "1O0", "1e3", "1.2.3", "--1", "NaN", "١٠٠", "0x10", "1\u{0}"])
    func whatIsNoNumberIsRefused(_ text: String) {
        #expect(rule { try Decimal(exactly: text) } == .format)
    }

    @Test(arguments: [
        "0.1234567890123456789012345678901234567891", "123456789012345678901234567890123456789.5",
        "1" + String(repeating: "0", count: 200),
    ])
    func whatWouldBeRoundedIsRefused(_ text: String) {
        #expect(rule { try Decimal(exactly: text) } == .exact)
    }

    @Test func wholeNumberIsAnAmount() throws {
        let form = PayForm(amount: 250, serviceName: "Tea", callbackURL: "https://shop.example.kg/cb", returnURL: "shop://back")
        #expect(form.amount == Decimal(250))
        #expect(cardPayment(amount: try Decimal(exactly: "100.10")).amount == Decimal(string: "100.1"))
    }

    /// What the compiler lets through: a literal that is told to be a decimal.
    @Test func priceThatWentThroughAFloatIsNotSent() async throws {
        let it = try Loopback(Responses.charged)
        let price: Decimal = 19.99
        let form = PayForm(amount: price, serviceName: "Tea", callbackURL: "https://shop.example.kg/cb", returnURL: "shop://back")
        await #expect {
            try await it.gateway.createPayForm(form)
        } throws: { brokenRule($0) == .exact }
        #expect(it.server.received.isEmpty)
    }

    private func rule(_ call: () throws -> Decimal) -> Rule? {
        do {
            _ = try call()
            return nil
        } catch {
            return brokenRule(error)
        }
    }

    private func brokenRule(_ error: any Error) -> Rule? {
        if case PaymentError.invalid(let violations) = error { violations.first?.rule } else { nil }
    }

    #if os(Linux)  // on a Mac it would have to be told where the SDK is
    /// The compiler says so, so the compiler is asked.
    @Test func amountThatPassesThroughAFloatDoesNotCompile() throws {
        for amount in ["100.10", "-0.5", "Double(100)"] {
            let said = try compilersWords(of: amount)
            // The form, two constructors of references, a reference field by field.
            let refused = said.matches(of: #/shop\.swift:[0-9:]+ error: .*'Double'.*ExactAmount'/#)
            #expect(refused.count == 4, "\(amount): \(said)")
        }
        for amount in ["100", "try! Decimal(exactly: \"100.10\")", "somewhere"] {
            #expect(try compilersWords(of: amount) == "", "\(amount)")
        }
    }

    /// What the compiler says about a request and references with that amount.
    private func compilersWords(of amount: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kassa-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "shop.swift")
        let text = """
            import Foundation
            import Kassa
            func form(_ somewhere: Decimal) -> PayForm {
                PayForm(amount: \(amount), serviceName: "Tea", callbackURL: "https://shop.example.kg/cb", returnURL: "shop://back")
            }
            func payments(_ somewhere: Decimal) throws {
                _ = try PaymentRef.card("order-1", amount: \(amount), currency: "KGS")
                _ = try PaymentRef.payForm(amount: \(amount))
                _ = PaymentRef(kind: .card, amount: \(amount))
            }
            """
        try text.write(to: source, atomically: true, encoding: .utf8)
        let modules = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "Modules").path
        let ffi = URL(filePath: #filePath).appending(path: "../../../Sources/KassaFFI").standardized.path
        return try run(["swiftc", "-typecheck", "-I", modules, "-I", ffi, source.path])
    }

    private func run(_ command: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: said, as: UTF8.self)
    }
    #endif
}
