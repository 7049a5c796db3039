package dev.kassa.bench

import dev.kassa.BlockingGateway
import dev.kassa.Credentials
import dev.kassa.Gateway
import dev.kassa.Provider
import java.math.BigDecimal
import java.net.Socket
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.util.concurrent.ConcurrentLinkedDeque
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.await
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import okhttp3.Call
import okhttp3.Callback
import okhttp3.ConnectionPool
import okhttp3.Dispatcher
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response

const val AT_ONCE: Int = 100

private const val PATH = "/api/v1.1.0/get-status"
private const val QUESTION = """{"orderNumber":"ORDER-1","provider":"Cards"}"""

/** One way to ask for the status of a payment. */
fun interface Query {
    suspend fun ask(): String
}

/** Takes the report apart as far as a merchant needs it. */
private fun read(body: String): String {
    val data = Json.parseToJsonElement(body).jsonObject.getValue("data").jsonObject
    check(BigDecimal(data.getValue("amount").jsonPrimitive.content) == BigDecimal("100.10"))
    return data.getValue("status").jsonPrimitive.content
}

/** The same, of a caller whose thread waits. */
fun interface BlockingQuery {
    fun ask(): String
}

fun blockingWithKassa(url: String): BlockingQuery {
    val gateway = BlockingGateway(url, Credentials("shop", "secret"))
    return BlockingQuery { gateway.providerStatus("ORDER-1", Provider.Cards).status.toString() }
}

fun blockingWithOkHttp(url: String): BlockingQuery {
    val client = OkHttpClient()
    return BlockingQuery { client.newCall(question(url)).execute().use { read(it.body.string()) } }
}

fun blockingWithJavaHttp(url: String): BlockingQuery {
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    return BlockingQuery { read(client.send(javaQuestion(url), HttpResponse.BodyHandlers.ofString()).body()) }
}

private fun question(url: String): Request = Request.Builder()
    .url(url + PATH)
    .header("Authorization", okhttp3.Credentials.basic("shop", "secret"))
    .post(QUESTION.toRequestBody("application/json".toMediaType()))
    .build()

private fun javaQuestion(url: String): HttpRequest = HttpRequest.newBuilder(URI(url + PATH))
    .header("Authorization", okhttp3.Credentials.basic("shop", "secret"))
    .header("Content-Type", "application/json")
    .POST(HttpRequest.BodyPublishers.ofString(QUESTION))
    .build()

fun withKassa(url: String): Query {
    val gateway = Gateway(url, Credentials("shop", "secret"))
    return Query { gateway.providerStatus("ORDER-1", Provider.Cards).status.toString() }
}

fun withOkHttp(url: String): Query {
    val dispatcher = Dispatcher().apply {
        maxRequests = AT_ONCE
        maxRequestsPerHost = AT_ONCE
    }
    val pool = ConnectionPool(AT_ONCE, 5, java.util.concurrent.TimeUnit.MINUTES)
    val client = OkHttpClient.Builder().dispatcher(dispatcher).connectionPool(pool).build()
    return Query { client.newCall(question(url)).await().use { read(it.body.string()) } }
}

private suspend fun Call.await(): Response = suspendCancellableCoroutine { continuation ->
    continuation.invokeOnCancellation { cancel() }
    enqueue(
        object : Callback {
            override fun onFailure(call: Call, e: java.io.IOException) = continuation.resumeWithException(e)

            override fun onResponse(call: Call, response: Response) = continuation.resume(response)
        },
    )
}

fun withJavaHttp(url: String): Query {
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    return Query { read(client.sendAsync(javaQuestion(url), HttpResponse.BodyHandlers.ofString()).await().body()) }
}

/** The floor: one write and one read of bytes that were ready before, and nothing looked at. */
fun blockingWithSocket(url: String): BlockingQuery {
    val address = URI(url)
    val head = "POST $PATH HTTP/1.1\r\nhost: ${address.authority}\r\n" +
        "authorization: ${okhttp3.Credentials.basic("shop", "secret")}\r\ncontent-length: ${QUESTION.length}\r\n\r\n"
    val request = (head + QUESTION).toByteArray()
    val idle = ConcurrentLinkedDeque<Socket>()
    return BlockingQuery {
        val socket = idle.pollLast() ?: Socket(address.host, address.port).apply { tcpNoDelay = true }
        socket.outputStream.write(request)
        val response = ByteArray(4096)
        val length = socket.inputStream.read(response)
        idle.addLast(socket)
        length.toString()
    }
}

/** The same in a coroutine, on a thread that may wait. */
fun withSocket(url: String): Query {
    val blocking = blockingWithSocket(url)
    return Query { withContext(Dispatchers.IO) { blocking.ask() } }
}

val BLOCKING_CLIENTS: Map<String, (String) -> BlockingQuery> = mapOf(
    "Kassa" to ::blockingWithKassa,
    "OkHttp" to ::blockingWithOkHttp,
    "java.net.http" to ::blockingWithJavaHttp,
    "a bare socket" to ::blockingWithSocket,
)

val CLIENTS: Map<String, (String) -> Query> = mapOf(
    "Kassa" to ::withKassa,
    "OkHttp" to ::withOkHttp,
    "java.net.http" to ::withJavaHttp,
    "a bare socket" to ::withSocket,
)
