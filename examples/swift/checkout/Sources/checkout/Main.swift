import Foundation
import Kassa

/// The programs, by their names.
@main
enum Main {
    private static let usage = """
        usage: checkout card SOM | mbank PHONE SOM | megapay PHONE SOM ACCOUNT | pay-form SOM | qr SOM
               checkout resume | check REFERENCE | callback ADDRESS < BODY | returned ADDRESS
        """

    static func main() async {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            switch (words.first, words.count) {
            case ("card", 2): try await takeCard(words[1])
            case ("mbank", 3): try await takeMbank(from: words[1], words[2])
            case ("megapay", 4): try await takeMegapay(from: words[1], words[2], to: words[3])
            case ("pay-form", 2): try await makePayForm(words[1])
            case ("callback", 2): try await takeCallback(at: words[1])
            case ("returned", 2): try await payerReturned(to: words[1])
            case ("qr", 2): try await showQr(words[1])
            case ("resume", 1): try await resume()
            case ("check", 2): try await check(words[1])
            default: end(2, usage)
            }
        } catch {
            end(1, "\(error)")
        }
    }

    private static func end(_ code: Int32, _ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        exit(code)
    }
}
