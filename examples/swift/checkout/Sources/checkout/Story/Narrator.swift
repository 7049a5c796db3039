import Foundation

/// Tells a person what happens: short lines with a label in front.
struct Narrator: Sendable {
    private let output: FileHandle
    let hasColours: Bool
    private var subject = ""

    /// A narrator that leaves standard output to JSON, or not.
    init(json: Bool) {
        output = json ? .standardError : .standardOutput
        let noColours = ProcessInfo.processInfo.environment["NO_COLOR"] ?? ""
        hasColours = isatty(output.fileDescriptor) == 1 && noColours.isEmpty
    }

    /// The same narrator, telling about one of several payments.
    func about(_ subject: String) -> Narrator {
        var other = self
        other.subject = "\(subject): "
        return other
    }

    func title(_ text: String) {
        print(hasColours ? "\n\u{1B}[1m\(text)\u{1B}[0m" : "\n\(text)")
    }

    /// One step: who does it, and what.
    func step(_ label: String, _ text: String) {
        line(label, text, colour: "36")
    }

    /// A step that deserves a second look.
    func warn(_ label: String, _ text: String) {
        line(label, text, colour: "1;33")
    }

    /// The end of a flow.
    func end(_ exitCode: Int32, _ text: String) {
        switch exitCode {
        case ExitCode.asExpected: line("done", text, colour: "1;32")
        case ExitCode.notKnown: line("open", text, colour: "1;33")
        default: line("failed", text, colour: "1;31")
        }
    }

    /// A QR code, light on dark whatever the terminal's own colours are: scanners want dark on light.
    func draw(_ code: String) {
        for row in code.split(separator: "\n") {
            print(hasColours ? "    \u{1B}[97;40m\(row)\u{1B}[0m" : "    \(row)")
        }
    }

    /// Any text as it is. A closed pipe is no reason to stop in the middle of a payment.
    func print(_ text: String) {
        try? output.write(contentsOf: Data("\(text)\n".utf8))
    }

    private func line(_ label: String, _ text: String, colour: String) {
        let label = label.padding(toLength: max(9, label.count), withPad: " ", startingAt: 0)
        print("  \(hasColours ? "\u{1B}[\(colour)m\(label)\u{1B}[0m" : label) \(subject)\(text)")
    }
}
