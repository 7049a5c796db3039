import Foundation

/// Who plays the payer: a robot, or a person with a browser.
enum Payer: Sendable {
    /// Fills in the sandbox's pages by itself.
    case robot(Robot)
    /// Gets links, and is asked for one-time passwords.
    case person

    var isRobot: Bool {
        if case .robot = self { true } else { false }
    }

    /// Sends the payer to a page. What the robot does there is told as `story`; without forms it cannot do anything. Whatever happens
    /// there, the status decides.
    func go(_ narrator: Narrator, to page: URL, story: String, _ forms: [Form]?) async {
        guard case .robot(let robot) = self else {
            return narrator.step("payer", "open \(page.absoluteString) in a browser and finish the payment there")
        }
        guard let forms else {
            let text = "the robot knows no one-time password for this payer: open \(page.absoluteString) yourself"
            return narrator.warn("payer", text)
        }
        narrator.step("payer", story)
        do {
            if try await robot.visit(page, forms) == .stayed {
                narrator.step("payer", "the gateway shows the result on a page of its own")
            }
        } catch {
            narrator.warn("payer", error.localizedDescription)
        }
    }

    /// Asks a person for a one-time password.
    static func askOTP(_ narrator: Narrator) async throws -> String {
        narrator.step("payer", "type the one-time password that the phone received, then Enter:")
        let line = await withCheckedContinuation { waiting in
            // A person takes a while, and the threads of tasks are few.
            Thread.detachNewThread { waiting.resume(returning: readLine()) }
        }
        let otp = line?.trimmingCharacters(in: .whitespaces) ?? ""
        guard !otp.isEmpty else { throw Failure.usage("no one-time password was given") }
        return otp
    }

    /// True where there is somebody to ask.
    static var canBeAsked: Bool { isatty(FileHandle.standardInput.fileDescriptor) == 1 }
}
