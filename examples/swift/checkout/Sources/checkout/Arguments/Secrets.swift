import Foundation

/// What must not stand on a command line: one line of JSON on standard input. It goes before options and environment.
enum Secrets {
    private static let places: KeyValuePairs = [
        "password": ConnectionOptions.password, "pan": CardFields.pan, "expiry_month": CardFields.expiryMonth,
        "expiry_year": CardFields.expiryYear, "cvc": CardFields.cvc, "otp": PaymentOptions.otp,
    ]

    static let names = places.map(\.key).joined(separator: ", ")

    /// Where `--secrets-stdin` is given, reads the line and puts its values in the place of others.
    static func take(into given: inout Given) throws {
        guard given.has(ConnectionOptions.secretsStdin) else { return }
        let line = readLine() ?? ""
        // What is wrong is not said in the reader's words: they could quote a secret.
        guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(line.utf8)),
            fields.keys.allSatisfy({ name in places.contains { $0.key == name } })
        else {
            throw Failure.usage(
                #"--secrets-stdin expects one line of JSON such as {"password": "...", "pan": "..."} with any of the texts \#(names)"#)
        }
        for (name, option) in places {
            if let value = fields[name] { given.set(option, value) }
        }
    }
}
