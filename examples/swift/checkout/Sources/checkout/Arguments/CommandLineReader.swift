import Foundation

/// One option of the command line. A value is taken from the command line, else from the environment, else it is the default.
struct Option: Sendable {
    let name: String
    /// What stands for its value in the help; nil for a switch.
    var value: String?
    var variable: String?
    var fallback: String?
    /// Its words may be a secret, so no complaint and no help repeats them.
    var isSecret = false
    var isRepeatable = false
    let help: String
}

/// What the command line and the environment say.
struct Given: Sendable {
    fileprivate(set) var values: [String: [String]] = [:]
    fileprivate let environment: [String: String]

    /// The option's value; nil where there is none. An empty variable of the environment is none.
    func text(_ option: Option) -> String? {
        if let given = values[option.name]?.last { return given }
        if let variable = option.variable, let value = environment[variable], !value.isEmpty { return value }
        return option.fallback
    }

    func texts(_ option: Option) -> [String] { values[option.name] ?? [] }

    func has(_ option: Option) -> Bool { values[option.name] != nil }

    /// Puts a value in the place of whatever was given.
    mutating func set(_ option: Option, _ value: String) { values[option.name] = [value] }

    /// As if the option had not been given, neither by the environment.
    func without(_ option: Option) -> Given {
        var environment = environment
        if let variable = option.variable { environment[variable] = nil }
        var other = Given(values: values, environment: environment)
        other.values[option.name] = nil
        return other
    }
}

/// Reads a command line. No package can be fetched from elsewhere for this example, or a library would do it.
enum CommandLineReader {
    enum Reading {
        case help(String)
        case run(Command, Given)
    }

    static func read(_ words: [String], environment: [String: String]) throws -> Reading {
        guard let name = words.first, name != "--help", name != "-h" else {
            if words.isEmpty { throw Failure.usage("name a command: \(Command.names); --help tells more") }
            return .help(Help.ofProgram)
        }
        guard let command = Command(rawValue: name) else {
            throw Failure.usage("the first word must be a command: \(Command.names); --help tells more")
        }
        var given = Given(environment: environment)
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" { return .help(Help.of(command)) }
            try take(word, &rest, command, &given)
        }
        return .run(command, given)
    }

    private static func take(_ word: String, _ rest: inout ArraySlice<String>, _ command: Command, _ given: inout Given) throws {
        guard word.hasPrefix("--") else {
            // It is not repeated: it may be a part of a secret.
            throw Failure.usage("a word that is no option is not understood; checkout \(command.rawValue) --help tells more")
        }
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = command.options.first(where: { $0.name == parts[0] }) else {
            throw Failure.usage("--\(parts[0]) is not an option of checkout \(command.rawValue); --help lists them")
        }
        if given.has(option), !option.isRepeatable { throw Failure.usage("--\(option.name) is given twice") }
        guard option.value != nil else {
            if parts.count > 1 { throw Failure.usage("--\(option.name) takes no value") }
            given.set(option, "")
            return
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw Failure.usage("--\(option.name) needs a value")
        }
        given.values[option.name, default: []].append(value)
    }
}
