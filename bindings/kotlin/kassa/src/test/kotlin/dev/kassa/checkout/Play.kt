package dev.kassa.checkout

import dev.kassa.support.at
import dev.kassa.support.items
import dev.kassa.support.json
import dev.kassa.support.jsonOf
import dev.kassa.support.keys
import dev.kassa.support.optionalText
import dev.kassa.support.text
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject

/** Plays one vector: its steps, one after the other. */
suspend fun play(vector: JsonElement): Unit = Stage.open(vector.at("scene").takeIf { it is JsonObject } ?: jsonOf()).use { scene ->
    Play(scene, vector.at("never").items).use { play ->
        vector.at("steps").items.forEachIndexed { at, step ->
            try {
                play.step(step)
            } catch (problem: IllegalStateException) {
                throw AssertionError("step ${at + 1} (${step.at("do").text}): ${problem.message}", problem)
            }
        }
    }
}

private class Play(private val scene: Scene, private val never: List<JsonElement>) : AutoCloseable {
    private val devices = mutableMapOf<String, Device>()

    suspend fun step(step: JsonElement) {
        val name = step.at("do").text
        val device = step.at("device").optionalText ?: "phone"
        val input = placed(step.at("input"))
        val came = when (name) {
            "until" -> return deviceOf(device).until(step.at("expect"), never)
            "open" -> came { devices.put(device, Device.open(scene, input))?.close(); JsonNull }
            "kill" -> came { devices.remove(device)!!.close(); JsonNull }
            in Device.steps -> came { deviceOf(device).act(name, input) }
            else -> jsonOf("answer" to scene.step(name, input))
        }
        if ("expect" in step.keys) {
            check(matches(step.at("expect"), came)) { "must be ${step.at("expect")} and is $came" }
        } else {
            check("error" !in came.keys) { "must be no error and is $came" }
        }
    }

    override fun close() = devices.values.forEach { it.close() }

    private fun deviceOf(name: String) = checkNotNull(devices[name]) { "$name has not opened it" }

    /** `{"$new_token": true}` stands for one. */
    private fun placed(input: JsonElement): JsonElement =
        JsonObject(input.keys.associateWith { key ->
            input.at(key).let { if ("\$new_token" in it.keys) json(scene.newToken()) else it }
        })
}
