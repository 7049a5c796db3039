package dev.kassa.conformance

import dev.kassa.support.Received
import dev.kassa.support.ScriptedServer
import dev.kassa.support.at
import dev.kassa.support.decimal
import dev.kassa.support.int
import dev.kassa.support.items
import dev.kassa.support.json
import dev.kassa.support.jsonOf
import dev.kassa.support.keys
import dev.kassa.support.optionalLong
import dev.kassa.support.optionalMillis
import dev.kassa.support.optionalText
import dev.kassa.support.orNull
import dev.kassa.support.text
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/** Runs one vector: its steps one after the other, then what it says about the requests and about what was printed. */
suspend fun problemsOf(spec: JsonElement, way: Way): List<String> = ScriptedServer(spec.at("responses").items).use { server ->
    BorrowedSandbox.of(spec).use { sandbox ->
        JournalFolder.of(spec).use { folder ->
            problemsOf(spec, Scenario(spec.at("config"), way, server, sandbox, folder), server)
        }
    }
}

private suspend fun problemsOf(spec: JsonElement, scenario: Scenario, server: ScriptedServer): List<String> {
    val begun = System.nanoTime()
    val steps = stepsOf(spec)
    val printed = StringBuilder()
    val problems = steps.flatMapIndexed { at, step ->
        val came = scenario.step(step.at("do").text, scenario.placed(step.at("input")))
        printed.append(came.printed).append('\n')
        val found = if ("expect" in step.keys) differences(scenario.placed(step.at("expect")), came.result) else emptyList()
        scenario.keep(step.at("keep"), came.result)
        found.map { "step ${at + 1} (${step.at("do").text}) $it" }
    }
    val tookMillis = (System.nanoTime() - begun) / 1_000_000
    val isTooFast = tookMillis < (spec.at("took_at_least_ms").optionalLong ?: 0)
    scenario.end()
    return problems + listOfNotNull("took only $tookMillis ms".takeIf { isTooFast }) +
        requestProblems(spec, server) + printProblems(spec, printed.toString())
}

/** What the steps of one vector share. */
private class Scenario(
    private val config: JsonElement,
    private val way: Way,
    private val server: ScriptedServer,
    private val sandbox: BorrowedSandbox?,
    private val folder: JournalFolder?,
) {
    private val kept = mutableMapOf<String, JsonElement>()
    private var gateway: AnyGateway? = null
    private var watch: AnyWatch? = null
    private var started: Deferred<Came> = CompletableDeferred()

    /** With a sandbox: the addresses and what was kept, where they are named. */
    fun placed(value: JsonElement): JsonElement = when {
        sandbox == null -> value
        value is JsonArray -> JsonArray(value.map(::placed))
        "\$kept" in value.keys -> kept.getValue(value.at("\$kept").text)
        value is JsonObject -> JsonObject(value.mapValues { placed(it.value) })
        else -> value.optionalText?.let { json(it.replace("{sandbox}", sandbox.url).replace("{server}", server.url)) } ?: value
    }

    /** Remembers parts of a result, each by the path of keys and indexes that leads to it. */
    fun keep(wanted: JsonElement, result: JsonElement) = wanted.keys.forEach { name ->
        kept[name] = wanted.at(name).items.fold(result) { part, key ->
            key.optionalText?.let(part::at) ?: part.items[key.int]
        }
    }

    suspend fun step(name: String, input: JsonElement): Came = when (name) {
        "new_gateway" -> nothing { gateway() }
        "watch" -> nothing { watch = gateway(input).watch(paymentRefOf(input.at("payment")), policyOf(input)) }
        "check_now" -> nothing { watch!!.checkNow() }
        "cancel" -> nothing { watch!!.cancel() }
        "start" -> nothing {
            started = CoroutineScope(Dispatchers.Default).async { step(input.at("do").text, input.at("input")) }
        }
        "abandon" -> {
            started.cancelAndJoin()
            came { started.isCancelled }
        }
        "finish" -> started.await()
        "wait_for_requests" -> came { server.waitForRequests(input.at("count").int) }
        "release" -> nothing { server.release() }
        "sent" -> came { server.received.size }
        "answered" -> came { server.answered }
        "received" -> came { server.received[input.at("number").int - 1].body }
        "print" -> Came(jsonOf("answer" to null), print(input.at("type").text, input.at("value")))
        "new_process" -> nothing { gateway?.close().also { gateway = null } }
        in JournalFolder.steps -> came { folder!!.step(name, input) }
        in BorrowedSandbox.steps -> came { sandbox!!.step(name, input) }
        in functions -> came { functions.getValue(name)(input) }
        in gatewayCalls -> came { gatewayCalls.getValue(name)(gateway(input), input) }
        else -> watchStep(watch ?: error("no step is named $name"), name)
    }

    private inline fun nothing(step: () -> Unit) = came { step().let { null } }

    private fun gateway(): AnyGateway =
        gateway ?: way.open(configOf(placed(config), server.url), folder?.open()).also { gateway = it }

    /** With another deadline or a note where a step says so. */
    private fun gateway(input: JsonElement): AnyGateway {
        val within = input.at("within_ms").optionalMillis?.let { gateway().withDeadline(it) } ?: gateway()
        return input.at("note").optionalText?.let(within::withNote) ?: within
    }

    /** Closing waits for payments on their way. */
    suspend fun end() {
        server.release()
        gateway?.close()
    }
}

/** A request whose caller gave up may still have to be read. */
private fun requestProblems(spec: JsonElement, server: ScriptedServer): List<String> {
    val expected = spec.at("requests").orNull?.items
    val count = expected?.size ?: spec.at("sent").optionalLong?.toInt()
    server.waitForRequests(count ?: 0)
    val received = server.received
    val miscounted = "${received.size} requests were sent, not $count".takeIf { count != null && count != received.size }
    val wrong = expected.orEmpty().zip(received).flatMapIndexed { at, (wanted, request) ->
        requestProblems(wanted, request).map { "request ${at + 1} $it" }
    }
    return listOfNotNull(miscounted) + wrong
}

private fun requestProblems(expected: JsonElement, request: Received): List<String> {
    val parts = mapOf("method" to request.method, "target" to request.target, "body" to request.body)
    val found = parts.filterKeys { it in expected.keys }.flatMap { (key, came) ->
        differences(expected.at(key), json(came), key)
    }
    val headers = expected.at("headers").keys.flatMap {
        differences(expected.at("headers").at(it), json(request.headers[it]), "header $it")
    }
    val numbers = expected.at("numbers").keys.filterNot { isNumberIn(request.body, it, expected.at("numbers").at(it)) }
    return found + headers + numbers.map { "number $it: expected ${expected.at("numbers").at(it)}, body ${request.body}" }
}

/** The number after `"name":`, which must be one without quotes. */
private fun isNumberIn(body: String, name: String, expected: JsonElement): Boolean {
    val text = body.substringAfter("\"$name\":", "").takeWhile { it != ',' && it != '}' }
    return text.toBigDecimalOrNull()?.compareTo(expected.decimal) == 0
}

/** What a vector forbids or wants to see in what was printed. */
private fun printProblems(spec: JsonElement, printed: String): List<String> {
    val leaked = spec.at("forbidden").items.filter { it.text in printed }.map { "$it is printed: $printed" }
    val missing = spec.at("shows").items.filter { it.text !in printed }.map { "$it is not in: $printed" }
    return leaked + missing
}
