package dev.kassa.checkout

import dev.kassa.conformance.writeCount
import dev.kassa.support.at
import dev.kassa.support.items
import dev.kassa.support.parseJson
import dev.kassa.support.text
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonElement
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DynamicContainer
import org.junit.jupiter.api.DynamicContainer.dynamicContainer
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.parallel.Execution
import org.junit.jupiter.api.parallel.ExecutionMode
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Semaphore
import kotlin.io.path.Path
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.readText

/**
 * Plays the vectors of a checkout on the JVM: a real server, a real sandbox, a network that fails. What a vector means is described in
 * `tests/conformance/checkout/README.md`. `-Dvectors=TEXT` plays those with TEXT in their name or group only.
 */
@Execution(ExecutionMode.CONCURRENT)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VectorsTest {
    private class Vector(val group: String, val spec: JsonElement) {
        val name = spec.at("name").text
    }

    private val filter = System.getProperty("vectors").orEmpty()
    private val chosen = loadVectors().filter { filter in it.name || filter in it.group }
    private val played: MutableSet<String> = ConcurrentHashMap.newKeySet()

    /** Each has a server of its own. */
    private val places = Semaphore(8)

    @TestFactory
    fun vectors(): List<DynamicContainer> = chosen.groupBy { it.group }.map { (group, members) ->
        dynamicContainer(group, members.map { dynamicTest(it.name) { play(it) } })
    }

    private fun play(vector: Vector) {
        places.acquire()
        try {
            runBlocking { play(vector.spec) }
        } finally {
            places.release()
        }
        played += vector.name
    }

    @AfterAll
    fun `nothing was left out`() {
        writeCount("checkout", chosen.size)
        assertEquals(chosen.map { it.name }.sorted(), played.sorted(), "each vector has its own name, and was played to its end")
        if (filter.isEmpty()) check(chosen.size >= 65) { "${chosen.size} vectors" }
    }

    private fun loadVectors(): List<Vector> =
        Path(System.getProperty("kassa.repository"), "tests", "conformance", "checkout").listDirectoryEntries("*.json").sorted()
            .map { parseJson(it.readText()) }
            .flatMap { file -> file.at("vectors").items.map { Vector(file.at("group").text, it) } }
            .filterNot { vector -> vector.spec.at("steps").items.any { it.at("do").text == "print" } } // Rust's own
}
