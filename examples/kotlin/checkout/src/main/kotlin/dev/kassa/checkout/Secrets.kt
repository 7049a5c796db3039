package dev.kassa.checkout

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject

private val NAMES = listOf("password", "pan", "expiry_month", "expiry_year", "cvc", "otp")

/** What must not stand on a command line: one line of JSON on standard input. It goes before flags and environment. */
class Secrets(private val values: Map<String, String>) {
    val password: String? get() = values["password"]
    val otp: String? get() = values["otp"]

    /** The card with what the line says of it. */
    fun card(given: CardFields) = CardFields(
        pan = values["pan"] ?: given.pan,
        expiryMonth = values["expiry_month"] ?: given.expiryMonth,
        expiryYear = values["expiry_year"] ?: given.expiryYear,
        cvc = values["cvc"] ?: given.cvc,
        name = given.name,
    )

    companion object {
        /** No line was announced. */
        val NONE = Secrets(emptyMap())

        /** Reads the line. What is wrong with it is not repeated: it could be a secret. */
        fun fromStdin(): Secrets = try {
            val line = Json.parseToJsonElement(readlnOrNull().orEmpty()).jsonObject
            require(line.keys.all(NAMES::contains) && line.values.all { it is JsonPrimitive && it.isString })
            Secrets(line.mapValues { (it.value as JsonPrimitive).content })
        } catch (_: IllegalArgumentException) {
            throw Failure.Usage(
                "--secrets-stdin expects one line of JSON such as {\"password\": \"...\", \"pan\": \"...\"} with any of the " +
                    "texts ${NAMES.joinToString()}",
            )
        }
    }
}
