package dev.kassa.checkout.commands

import com.github.ajalt.clikt.command.SuspendingCliktCommand
import com.github.ajalt.clikt.core.Context
import com.github.ajalt.clikt.core.ProgramResult
import com.github.ajalt.clikt.parameters.groups.provideDelegate
import dev.kassa.PaymentException
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Failure
import dev.kassa.checkout.Secrets
import dev.kassa.checkout.exitCode
import dev.kassa.checkout.json
import dev.kassa.checkout.toJson
import kotlinx.serialization.json.JsonObject

/** What a command came to: the program's exit code, and what programs get to read. */
class Ended(val exitCode: Int, val body: JsonObject)

/** A command that works with the gateway. Says how it ended: in words, in JSON, and by the exit code. */
abstract class ShopCommand(name: String, private val about: String) : SuspendingCliktCommand(name) {
    private val connection by ConnectionOptions()
    private val following by FollowingOptions()

    /** What came by standard input. */
    protected val secrets: Secrets get() = connection.secrets

    final override fun help(context: Context) = about

    final override suspend fun run() {
        val ended = try {
            Checkout.open(settings(connection, following)).use { work(it) }
        } catch (failure: Failure) {
            System.err.println("checkout: ${failure.kind}: ${failure.message}")
            Ended(failure.exitCode, json("error" to failure.toJson()))
        } catch (error: PaymentException) {
            System.err.println("checkout: ${error.kind}: ${error.message}")
            Ended(error.exitCode, json("error" to error.toJson()))
        }
        if (following.json) printLine(commandName, ended)
        throw ProgramResult(ended.exitCode)
    }

    protected abstract suspend fun work(shop: Checkout): Ended
}

/** The line of JSON: the last one, and the only one on standard output. */
fun printLine(command: String, ended: Ended) {
    val outer = json("command" to command, "ok" to (ended.exitCode == 0), "exit_code" to ended.exitCode)
    println(JsonObject(outer + ended.body))
}

/** The worst of several exit codes: a payment that nobody knows about goes before one that failed. */
fun worst(codes: List<Int>): Int = codes.maxOrNull() ?: 0
