package dev.kassa.checkout

import com.github.ajalt.clikt.command.SuspendingCliktCommand
import com.github.ajalt.clikt.command.parse
import com.github.ajalt.clikt.core.CliktError
import com.github.ajalt.clikt.core.Context
import com.github.ajalt.clikt.core.PrintHelpMessage
import com.github.ajalt.clikt.core.ProgramResult
import com.github.ajalt.clikt.core.context
import com.github.ajalt.clikt.core.subcommands
import com.github.ajalt.clikt.output.MordantHelpFormatter
import dev.kassa.checkout.commands.AllCommand
import dev.kassa.checkout.commands.CallbackCommand
import dev.kassa.checkout.commands.CardCommand
import dev.kassa.checkout.commands.ConfirmCommand
import dev.kassa.checkout.commands.Ended
import dev.kassa.checkout.commands.MbankCommand
import dev.kassa.checkout.commands.PayFormCommand
import dev.kassa.checkout.commands.QrCommand
import dev.kassa.checkout.commands.StatusCommand
import dev.kassa.checkout.commands.WatchCommand
import dev.kassa.checkout.commands.printLine
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlin.system.exitProcess

/** A checkout on the command line: takes payments through a gateway and says what happened to the money. */
private class CheckoutCommand : SuspendingCliktCommand("checkout") {
    init {
        context { helpFormatter = { MordantHelpFormatter(it, showDefaultValues = false) } }
        subcommands(
            CardCommand(),
            MbankCommand(),
            ConfirmCommand(),
            PayFormCommand(),
            QrCommand(),
            StatusCommand(),
            WatchCommand(),
            CallbackCommand(),
            AllCommand(),
        )
    }

    override fun help(context: Context) =
        "A checkout on the command line: takes payments through a gateway and says what happened to the money."

    override fun helpEpilog(context: Context) = """
        Without --base-url an embedded sandbox takes the gateway's place, and a robot plays the payer.

        Exit codes: 0 ended as expected; 1 ended otherwise, or an error that says no money moved; 2 the command line is wrong, nothing
        was sent; 3 not known yet: an unknown outcome, or a payment that was still open when following it ended.
    """.trimIndent()

    override suspend fun run() = Unit
}

/** Runs the command, and ends with its exit code. On threads of its own: what arrives over HTTP must not be worked on where it is answered. */
fun main(arguments: Array<String>) {
    val exitCode = runBlocking(Dispatchers.Default) { runCommand(arguments) }
    exitProcess(exitCode)
}

private suspend fun runCommand(arguments: Array<String>): Int {
    val command = CheckoutCommand()
    return try {
        command.parse(arguments)
        AS_EXPECTED
    } catch (result: ProgramResult) {
        result.statusCode
    } catch (error: CliktError) {
        command.echoFormattedHelp(error)
        if (error is PrintHelpMessage && !error.error) AS_EXPECTED else refuse(arguments)
    }
}

/** A command line that is not understood. */
private fun refuse(arguments: Array<String>): Int {
    val refusal = Failure.Usage("the command line is not understood; standard error says why")
    if ("--json" in arguments) printLine("", Ended(USAGE, json("error" to refusal.toJson())))
    return USAGE
}
