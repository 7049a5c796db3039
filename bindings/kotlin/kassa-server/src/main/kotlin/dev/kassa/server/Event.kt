package dev.kassa.server

import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/**
 * An event for the shop.
 *
 * @property cursor its place among all events, an opaque text: what `GET /v1/events?after=` takes
 * @property id the same however often it is delivered: the header `webhook-id`
 * @property kind such as `checkout.paid`: what its JSON calls `type`
 * @property checkout the checkout's identifier
 * @property reference the shop's own reference
 * @property json all that it says
 */
public data class Event(
    public val cursor: String,
    public val id: String,
    public val kind: String,
    public val checkout: String,
    public val reference: String,
    public val json: String,
)

/** An event, as the server lists it. */
internal fun event(told: JsonObject): Event {
    val body = told.getValue("event").jsonObject
    val data = body.getValue("data").jsonObject
    return Event(
        cursor = told.text("cursor"),
        id = body.text("id"),
        kind = body.text("type"),
        checkout = data.text("checkout"),
        reference = data.text("reference"),
        json = body.toString(),
    )
}

private fun JsonObject.text(name: String) = getValue(name).jsonPrimitive.content
