/// What --help prints.
enum Help {
    static var ofProgram: String {
        let commands = Command.allCases.map { "  \(padded($0.rawValue, 10))\($0.summary)" }
        return """
            A checkout on the command line: takes payments through a gateway and says what happened to the money.

            Usage: checkout COMMAND [OPTION...]; checkout COMMAND --help lists the options

            \(commands.joined(separator: "\n"))

            Without --base-url a sandbox is started for this run, and a robot plays the payer.

            Exit codes:
              0  ended as expected (charged; answered; confirmed)
              1  ended, but not as expected (rejected; an error that says no money moved; with `all` also a
                 callback that never came)
              2  the command line is wrong; nothing was sent
              3  not known yet: the outcome of a payment is unknown, or it was still open when
                 following it ended
            """
    }

    static func of(_ command: Command) -> String {
        let groups = [("Options", command.ownOptions), ("Gateway", ConnectionOptions.all), ("Following payments", FollowingOptions.all)]
        let texts = groups.map { title, options in "\(title):\n\(options.map(of).joined(separator: "\n"))" }
        return "\(command.summary)\n\nUsage: checkout \(command.rawValue) [OPTION...]\n\n\(texts.joined(separator: "\n\n"))"
    }

    private static func of(_ option: Option) -> String {
        let variable = option.variable.map { " [environment: \($0)]" } ?? ""
        let fallback = option.fallback.map { " [default: \($0)]" } ?? ""
        return "  --\(option.name)\(option.value.map { " \($0)" } ?? "")\n      \(option.help)\(variable)\(fallback)"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
