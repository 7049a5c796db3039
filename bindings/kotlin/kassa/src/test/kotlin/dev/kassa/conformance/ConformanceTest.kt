package dev.kassa.conformance

import dev.kassa.Gateway
import dev.kassa.PaymentException
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.at
import dev.kassa.support.closedPort
import dev.kassa.support.configOf
import dev.kassa.support.items
import dev.kassa.support.keys
import dev.kassa.support.text
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.DynamicContainer
import org.junit.jupiter.api.DynamicContainer.dynamicContainer
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.parallel.Execution
import org.junit.jupiter.api.parallel.ExecutionMode
import java.util.concurrent.ConcurrentHashMap

/**
 * Runs the conformance vectors on the JVM. What a vector means is described in `tests/conformance/README.md`.
 *
 * All of them run by [Gateway][dev.kassa.Gateway]; what it sends, callbacks and watches also in the other ways.
 *
 * `-Dvectors=TEXT` runs those with TEXT in their name or group only.
 */
@Execution(ExecutionMode.CONCURRENT)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConformanceTest {
    private val filter = System.getProperty("vectors").orEmpty()
    private val vectors = loadVectors()
    private val chosen = vectors.values.flatten().filter { filter in it.name || filter in it.group }
    private val runs = Way.entries.flatMap { way -> way.chosenOf(chosen).map { Run(way, it) } }
    private val ran: MutableSet<String> = ConcurrentHashMap.newKeySet()
    private val log = CapturedLog()

    @BeforeAll
    fun capture() {
        writeCount("conformance", chosen.size)
        log.start()
    }

    @TestFactory
    fun vectors(): List<DynamicContainer> = runs.groupBy { "${it.vector.group}, ${it.way}" }.map { (group, members) ->
        dynamicContainer(group, members.map { dynamicTest(it.name) { run(it) } })
    }

    private class Run(val way: Way, val vector: Vector) {
        val name = "${vector.name}, $way"
    }

    private fun run(run: Run) {
        val problems = runBlocking { withTimeout(2 * PATIENCE_SECONDS * 1_000) { problemsOf(run.vector.spec, run.way) } }
        ran += run.name
        assertEquals(emptyList<String>(), problems, run.name)
    }

    /** Logs of all vectors run together, so what any of them forbids must not be there. */
    @AfterAll
    fun `nothing was left out, and nothing secret was logged`() {
        Gateway(configOf(closedPort())).use { gateway ->
            assertThrows<PaymentException.Unavailable> { runBlocking { gateway.qrStatus(LAST) } }
        }
        val lines = log.stop(LAST)
        BorrowedSandbox.stopAll()
        assertEquals(runs.map { it.name }.sorted(), ran.sorted(), "each vector has its own name, and was run to its end")
        if (filter.isEmpty()) {
            assertEquals(emptyList<String>(), vectors.filterValues { it.isEmpty() }.keys.toList(), "groups without vectors")
            check(chosen.size >= 250) { "${chosen.size} vectors" }
            for (way in Way.entries) check(runs.count { it.way == way } >= 15) { "too few vectors were run by $way" }
            val ofKassa = lines.filter { " dev.kassa " in it && "http_status=" in it }
            check(ofKassa.isNotEmpty()) { "no exchange was logged, in ${lines.size} lines" }
            check(lines.none { "events were dropped" in it }) { "the log is not whole" }
        }
        val forbidden = chosen.flatMap { it.spec.at("forbidden").items }.map { it.text }.toSet()
        assertEquals(emptyList<String>(), lines.filter { line -> forbidden.any { standsIn(line, it) } })
    }

    /**
     * True where a text stands in a line. A few digits have to be a word of their own: identifiers, and the hashes by which
     * the JDK names its objects, have any digits in them.
     */
    private fun standsIn(line: String, text: String): Boolean {
        if (text.length > 7 || !text.all { it in '0'..'9' }) return text in line
        return Regex("(?<![0-9A-Za-z])$text(?![0-9A-Za-z])") in line
    }

    private companion object {
        /** The transaction of a query that is made when everything else is over. */
        const val LAST = "the-last-transaction"
    }
}
