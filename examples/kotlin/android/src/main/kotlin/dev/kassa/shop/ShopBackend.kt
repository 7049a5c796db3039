package dev.kassa.shop

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import org.json.JSONException
import org.json.JSONObject
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URI

private const val TIMEOUT_MILLIS = 60_000

/**
 * What a payer pays.
 *
 * @property number the shop's own
 * @property serverUrl the address of the merchant's `kassa-server`
 * @property clientToken the token that opens only this order's checkout
 */
class Order(val number: String, val serverUrl: String, val clientToken: String)

/**
 * The shop's own back end. Only it has the API key of `kassa-server`: it knows the prices, opens a checkout for each order, and gives the
 * app the checkout's token. Its functions throw an [IOException] if it cannot be reached, or refuses.
 */
class ShopBackend(private val url: String) {
    /** Orders a jar of honey. */
    suspend fun order(): Order = post("/orders")

    /** The same order again, with a new token. */
    suspend fun order(number: String): Order = post("/orders/$number")

    private suspend fun post(path: String): Order = withContext(Dispatchers.IO) {
        val connection = URI(url + path).toURL().openConnection() as HttpURLConnection
        try {
            connection.requestMethod = "POST"
            connection.connectTimeout = TIMEOUT_MILLIS
            connection.readTimeout = TIMEOUT_MILLIS
            val answer = JSONObject(connection.inputStream.bufferedReader().readText())
            Order(answer.getString("number"), answer.getString("server_url"), answer.getString("client_token"))
        } catch (error: JSONException) {
            throw IOException("the shop answers something else", error)
        } finally {
            connection.disconnect()
        }
    }
}
