import Kassa

/// Banks send at least so many characters. The gateway's interface shows no form of a code, so nothing else is asked of one here.
private let shortestCode = 4

/// The code as it is sent, which is without what groups it, by the core's own rule.
///
/// - Throws: `PaymentError.invalid` if it is too short to be one: sent, it would use up a try. That it is missing is for the core to say.
func checkedCode(_ typed: String) throws -> String {
    // Not by letters as a reader sees them: a mark that is not seen is part of the one before it.
    let meant = typed.unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil }
    guard meant.isEmpty || meant.count >= shortestCode else {
        let text = "otp must have at least \(shortestCode) characters"
        throw PaymentError.invalid(violations: [Violation(field: "otp", rule: .length, limit: "\(shortestCode)", text: text)])
    }
    return typed
}
