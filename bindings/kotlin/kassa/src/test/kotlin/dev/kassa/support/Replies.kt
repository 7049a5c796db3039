package dev.kassa.support

import dev.kassa.Credentials
import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import kotlinx.serialization.json.JsonObject
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

// What a scripted server says.

val CHARGED = response(200, """{"code":"200","data":{"orderNumber":"o-1","amount":100.10,"status":"CHARGE"}}""")
val OPEN = response(200, """{"code":"200","message":"WAIT","data":{"orderNumber":"o-1","status":"HOLD"}}""")
val CREATED = response(200, """{"code":"110","message":"CREATED","data":{"status":"Success"}}""")
val SILENCE = jsonOf("then" to "silence")
val HANG_UP = jsonOf("then" to "close")

fun response(status: Int, body: String) = jsonOf("status" to status, "body" to body)

/** The same, once the test says so. */
fun held(response: JsonObject) =
    JsonObject(response + ("hold" to json(true)))

fun configOf(url: String, deadline: Duration = PATIENCE_SECONDS.seconds) =
    GatewayConfig(url, Credentials("shop", "the-password-of-the-tests"), paymentDeadline = deadline, queryDeadline = deadline, queryRetries = 0)

/** A server with these responses, and a gateway that speaks to it. */
inline fun withGateway(
    vararg responses: JsonObject,
    test: (Gateway, ScriptedServer) -> Unit,
) = ScriptedServer(responses.toList()).use { server ->
    Gateway(configOf(server.url)).use { gateway -> test(gateway, server) }
}

/** An address where nobody listens, and which nobody is given by chance, as a port is that was free a moment ago. */
fun closedPort(): String = "http://127.0.0.1:1"
