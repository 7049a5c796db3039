package dev.kassa.bench

import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import kotlinx.serialization.json.putJsonObject

private const val ROUNDS = 31
private const val WARM_UP_ROUNDS = 10

/** Measures each subject once a round, in turn, and prints what came out as one line of JSON. Kassa is the first. */
fun compare(
    title: String,
    unit: String,
    subjects: Map<String, () -> Double>,
    bars: Map<String, Double> = emptyMap(),
    facts: Map<String, String> = emptyMap(),
) {
    val samples = subjects.mapValues { mutableListOf<Double>() }
    for (round in -WARM_UP_ROUNDS until ROUNDS) {
        for ((name, measure) in subjects) {
            val figure = measure()
            if (round >= 0) samples.getValue(name) += figure
        }
    }
    val line = buildJsonObject {
        put("title", title)
        put("unit", unit)
        putJsonObject("samples") {
            samples.forEach { (name, figures) -> putJsonArray(name) { figures.forEach { add(JsonPrimitive(it)) } } }
        }
        putJsonObject("bars") { bars.forEach { (name, bar) -> put(name, bar) } }
        putJsonObject("facts") { facts.forEach { (name, fact) -> put(name, fact) } }
    }
    println(line)
}

/** How many microseconds one of so many takes. */
inline fun microsecondsEach(times: Int, work: () -> Unit): Double {
    val started = System.nanoTime()
    work()
    return (System.nanoTime() - started) / 1e3 / times
}
