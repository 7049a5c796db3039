package dev.kassa.bench

import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

private const val ONE_BY_ONE = 300

/** `queries URL`, `qr`, or `first NAME URL`, which prints how many milliseconds the first query of a new JVM takes. */
fun main(arguments: Array<String>) {
    when (arguments[0]) {
        "queries" -> compareQueries(arguments[1])
        "qr" -> compareQr()
        "first" -> println(firstQuery(arguments[1], arguments[2]))
        else -> error("queries, qr or first")
    }
    // OkHttp's threads would keep the process for a minute.
    System.exit(0)
}

private fun compareQueries(url: String) {
    val blocking = BLOCKING_CLIENTS.mapValues { (_, client) -> client(url) }
    val each = blocking.mapValues { (_, query) -> { microsecondsEach(ONE_BY_ONE) { repeat(ONE_BY_ONE) { query.ask() } } } }
    compare("One by one, on a thread that waits", "us", each, mapOf("OkHttp" to 0.70))
    val clients = CLIENTS.mapValues { (_, client) -> client(url) }
    compare("One by one, in a coroutine", "us", clients.mapValues { (_, query) -> { oneByOne(query) } }, mapOf("OkHttp" to 0.90))
    compare("$AT_ONCE at once", "us each", clients.mapValues { (_, query) -> { atOnce(query) } }, mapOf("OkHttp" to 0.80))
}

private fun oneByOne(query: Query): Double =
    microsecondsEach(ONE_BY_ONE) { runBlocking { repeat(ONE_BY_ONE) { query.ask() } } }

private fun atOnce(query: Query): Double = microsecondsEach(5 * AT_ONCE) {
    runBlocking { repeat(5) { List(AT_ONCE) { async { query.ask() } }.awaitAll() } }
}

private fun firstQuery(name: String, url: String): Double =
    microsecondsEach(1) { runBlocking { CLIENTS.getValue(name)(url).ask() } } / 1e3
