import Foundation

/// A checkout on the command line: every kind of payment Kassa can take, from request to final status.
@main
enum Main {
    static func main() async {
        // The robot visits pages on this machine only, and on Linux URLSession would ask the environment's proxy for them.
        setenv("no_proxy", "127.0.0.1,localhost,::1", 1)
        // A reader that has gone away is no reason to stop in the middle of a payment.
        signal(SIGPIPE, SIG_IGN)
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ words: [String]) async -> Int32 {
        do {
            switch try CommandLineReader.read(words, environment: ProcessInfo.processInfo.environment) {
            case .help(let text):
                print(text)
                return ExitCode.asExpected
            case .run(let command, let given):
                return await command.run(given)
            }
        } catch {
            FileHandle.standardError.write(Data("checkout: \(error.localizedDescription)\n".utf8))
            if words.contains("--json") {
                Output.print("", ExitCode.usage, ["error": Output.error(error)])
            }
            return ExitCode.usage
        }
    }
}
