package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.CREATED
import dev.kassa.support.HANG_UP
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.ScriptedServer
import dev.kassa.support.cardPayment
import dev.kassa.support.withGateway
import dev.kassa.testing.FakeFault
import dev.kassa.testing.FakeGateway
import io.opentelemetry.api.OpenTelemetry
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.api.trace.Span
import io.opentelemetry.api.trace.SpanKind
import io.opentelemetry.api.trace.StatusCode
import io.opentelemetry.sdk.OpenTelemetrySdk
import io.opentelemetry.sdk.metrics.SdkMeterProvider
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter
import io.opentelemetry.sdk.trace.SdkTracerProvider
import io.opentelemetry.sdk.trace.data.SpanData
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.api.parallel.Isolated
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS

/** Observers of calls, and the spans and metrics that OpenTelemetry's SDK gets. */
@Isolated
class TelemetryTest {
    @Test
    fun `call is observed with its attempts`() = ScriptedServer(listOf(HANG_UP, CHARGED)).use { server ->
        val calls = LinkedBlockingQueue<CompletedCall>()
        Gateway(withRetries(server, 1)).use { gateway ->
            Kassa.onCall { calls += it }.use { runBlocking { gateway.providerStatus("o-1", Provider.Cards) } }
            // Nobody observes this one.
            runBlocking { gateway.providerStatus("o-2", Provider.Cards) }
        }
        val call = calls.next()
        val expected = listOf("provider_status", "o-1", "charged", null)
        assertEquals(expected, listOf(call.operation, call.orderNumber, call.outcome, call.errorType))
        assertEquals("POST /api/v1.1.0/get-status", "${call.method} ${call.path}")
        assertEquals(server.url, "http://${call.serverAddress}:${call.serverPort}")
        assertEquals(listOf(null to "lost", 200 to null), call.attempts.map { it.httpStatus to it.errorType })
        val last = call.attempts.last()
        assertTrue(last.startedAt + last.getDuration() <= call.startedAt + call.getDuration())
        assertTrue(calls.isEmpty())
    }

    @Test
    fun `observer that throws or blocks harms no payment`() = withGateway(CREATED, CHARGED) { gateway, _ ->
        val called = CountDownLatch(1)
        val release = CountDownLatch(1)
        val throwing = object : CallObserver {
            override fun onCall(call: CompletedCall) = throw NoClassDefFoundError("of an observer")

            override fun forCall() = throw NoClassDefFoundError("of an observer")
        }
        Kassa.onCall(throwing).use {
            Kassa.onCall { called.countDown(); release.await() }.use {
                runBlocking {
                    withTimeout(PATIENCE_SECONDS * 1_000) {
                        val created = gateway.createCardPayment(cardPayment(orderNumber = "o-1"))
                        assertTrue(gateway.watch(created.payment).outcome() is Verdict.Charged)
                        gateway.closeAndWait()
                    }
                }
                assertTrue(called.await(PATIENCE_SECONDS, SECONDS), "the observer was called, and waits")
                release.countDown()
            }
        }
    }

    @Test
    fun `observer gets what belongs to the caller, whichever gateway it calls`() {
        val ofRequest = ThreadLocal<String>()
        val observed = LinkedBlockingQueue<String>()
        val observer = object : CallObserver {
            override fun onCall(call: CompletedCall) = error("each call has an observer of its own")

            override fun forCall(): CallObserver {
                val request = ofRequest.get()
                return CallObserver { observed += "$request, ${it.operation}" }
            }
        }
        val fake = FakeGateway()
        val payment = fake.blocking.createMbankPayment(mbank("order-1")).payment
        Kassa.onCall(observer).use {
            ofRequest.set("blocking")
            fake.blocking.check(payment)
            ofRequest.set("future")
            fake.future.check(payment).get()
            ofRequest.set("coroutine")
            // Its dispatcher is none that goes on elsewhere by itself, so the call is made on another thread.
            runBlocking { fake.gateway.check(payment) }
            ofRequest.set("watch")
            runBlocking { fake.charge("order-1"); fake.gateway.watch(payment).outcome() }
        }
        for (way in listOf("blocking", "future", "coroutine", "watch")) {
            assertEquals("$way, provider_status", observed.poll(PATIENCE_SECONDS, SECONDS))
        }
    }

    @Test
    fun `worker is observed by whoever observes then`(@TempDir folder: Path) {
        val fake = FakeGateway()
        val gateway = fake.future.withJournal(Journal.open(folder))
        for (order in listOf("order-1", "order-2")) gateway.createMbankPayment(mbank(order)).get()
        fake.charge("order-1")
        val (first, second) = LinkedBlockingQueue<CompletedCall>() to LinkedBlockingQueue<CompletedCall>()
        val (isDelivering, release) = CountDownLatch(1) to CountDownLatch(1)
        val stop = StopSignal()
        val worker = Kassa.onCall { first += it }.use {
            val worker = gateway.deliverForever(stop) { isDelivering.countDown(); release.await() }
            assertTrue(isDelivering.await(PATIENCE_SECONDS, SECONDS))
            worker
        }
        first.next()
        Kassa.onCall { second += it }.use {
            release.countDown()
            assertEquals("order-2", second.next().orderNumber)
        }
        stop.stop()
        worker.get(PATIENCE_SECONDS, SECONDS)
    }

    @Test
    fun `delivery of what is unfinished is observed as its caller's`(@TempDir folder: Path) {
        val fake = FakeGateway()
        val gateway = fake.future.withJournal(Journal.open(folder))
        gateway.createMbankPayment(mbank("order-1")).get()
        fake.charge("order-1")
        val callers = LinkedBlockingQueue<Thread>()
        val observer = object : CallObserver {
            override fun onCall(call: CompletedCall) = error("each call has an observer of its own")

            override fun forCall() = CallObserver { }.also { callers += Thread.currentThread() }
        }
        Kassa.onCall(observer).use {
            assertEquals(1, gateway.deliverUnfinished { }.get(PATIENCE_SECONDS, SECONDS).delivered)
        }
        assertEquals(setOf(Thread.currentThread()), callers.toSet())
    }

    @Test
    fun `charged payment is in its caller's trace`() = recording { telemetry ->
        val fake = FakeGateway()
        val caller = telemetry.sdk.getTracer("shop").spanBuilder("checkout").startSpan()
        caller.makeCurrent().use {
            val created = fake.blocking.createMbankPayment(mbank("order-1"))
            fake.blocking.confirmMbankPayment(created.payment, fake.otp)
            assertTrue(runBlocking { fake.gateway.check(created.payment) } is Verdict.Charged)
            assertSame(caller, Span.current())
        }
        for ((operation, outcome) in listOf("mbank_payment" to "accepted", "mbank_confirm" to "accepted", "provider_status" to "charged")) {
            val call = telemetry.span(operation)
            assertEquals(caller.spanContext.spanId, call.parentSpanId)
            assertEquals(SpanKind.INTERNAL to StatusCode.UNSET, call.kind to call.status.statusCode)
            val attributes = mapOf("kassa.operation" to operation, "kassa.outcome" to outcome, "kassa.order" to "order-1")
            assertEquals(attributes, call.attributes.shown())
        }
        val call = telemetry.span("provider_status")
        val request = telemetry.span("POST /api/v1.1.0/get-status")
        assertEquals(call.spanId to SpanKind.CLIENT, request.parentSpanId to request.kind)
        val expected = mapOf(
            "http.request.method" to "POST", "http.response.status_code" to 200L, "server.address" to "fake.example",
            "server.port" to 443L, "url.template" to "/api/v1.1.0/get-status",
        )
        assertEquals(expected, request.attributes.shown())
        assertTrue(call.startEpochNanos <= request.startEpochNanos && request.endEpochNanos <= call.endEpochNanos)
        val all = "${telemetry.spans.finishedSpanItems}"
        for (secret in listOf("996555000101", fake.otp)) assertTrue(secret !in all, all)
    }

    @Test
    fun `metrics have outcomes and no orders`() = recording { telemetry ->
        val fake = FakeGateway()
        fun pay(order: String) = fake.blocking.createMbankPayment(mbank(order))
        pay("order-1")
        pay("order-2")
        fake.failNext(FakeFault.Refused("51", "no money"))
        assertThrows(PaymentException.Refused::class.java) { pay("order-3") }
        fake.failNext(FakeFault.ResponseLost)
        assertThrows(PaymentException.OutcomeUnknown::class.java) { pay("order-4") }

        val calls = telemetry.spans("mbank_payment", 4).associateBy { it.attributes.shown()["kassa.order"] }
        assertEquals(StatusCode.UNSET, calls.getValue("order-3").status.statusCode, "a refusal is an answer")
        assertEquals(StatusCode.ERROR, calls.getValue("order-4").status.statusCode)
        val operation = mapOf("kassa.operation" to "mbank_payment")
        val request = mapOf("http.request.method" to "POST", "server.address" to "fake.example", "server.port" to 443L)
        val name = "kassa.client.operation.duration"
        val http = "http.client.request.duration"
        val expected = setOf(
            Triple(name, 2L, operation + ("kassa.outcome" to "accepted")),
            Triple(name, 1L, operation + ("kassa.outcome" to "refused")),
            Triple(name, 1L, operation + mapOf("kassa.outcome" to "unknown", "error.type" to "OutcomeUnknown")),
            Triple(http, 2L, request + ("http.response.status_code" to 200L)),
            Triple(http, 1L, request + mapOf("http.response.status_code" to 400L, "error.type" to "400")),
            Triple(http, 1L, request + ("error.type" to "lost")),
        )
        assertEquals(expected, telemetry.measured())
    }

    @Test
    fun `every retry is a span`() = recording { telemetry ->
        ScriptedServer(listOf(HANG_UP, HANG_UP, CHARGED)).use { server ->
            Gateway(withRetries(server, 2)).use { gateway ->
                runBlocking { gateway.providerStatus("o-1", Provider.Cards) }
            }
        }
        telemetry.span("provider_status")
        val requests = telemetry.spans("POST /api/v1.1.0/get-status", 3)
        assertEquals(listOf(null, 1L, 2L), requests.map { it.attributes.shown()["http.request.resend_count"] })
        assertEquals(listOf("lost", "lost", null), requests.map { it.attributes.shown()["error.type"] })
        assertNull(requests.firstOrNull { (it.status.statusCode == StatusCode.ERROR) == (it.attributes.shown()["error.type"] == null) })
    }

    private fun withRetries(server: ScriptedServer, retries: Int) =
        GatewayConfig(server.url, Credentials("shop", "the-password-of-the-tests"), queryRetries = retries)

    private fun mbank(order: String) = MbankPayment(orderNumber = order, phone = "996555000101", amountSom = 250, comment = "tea")

    private fun LinkedBlockingQueue<CompletedCall>.next() = checkNotNull(poll(PATIENCE_SECONDS, SECONDS)) { "no call came" }

    private fun Attributes.shown(): Map<String, Any> = asMap().mapKeys { (key: AttributeKey<*>, _) -> key.key }
}

// docs: begin setup
/** Makes spans and metrics of every request to the gateway, until it is closed. */
fun instrument(openTelemetry: OpenTelemetry): CallObservation = Kassa.onCall(OpenTelemetryObserver(openTelemetry))
// docs: end setup

private fun recording(test: (Recorded) -> Unit) {
    val recorded = Recorded()
    instrument(recorded.sdk).use { test(recorded) }
}

private class Recorded {
    val spans: InMemorySpanExporter = InMemorySpanExporter.create()
    private val metrics = InMemoryMetricReader.create()
    val sdk: OpenTelemetrySdk = OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build())
        .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(metrics).build())
        .build()

    /** They come later than the answer, one call after the other. */
    fun spans(name: String, count: Int): List<SpanData> {
        val end = System.nanoTime() + SECONDS.toNanos(PATIENCE_SECONDS)
        while (System.nanoTime() < end) {
            val found = spans.finishedSpanItems.filter { it.name == name }
            if (found.size == count) return found
            Thread.onSpinWait()
        }
        error("no $count spans of $name in ${spans.finishedSpanItems}")
    }

    fun span(name: String): SpanData = spans(name, 1).single()

    fun measured(): Set<Triple<String, Long, Map<String, Any>>> = metrics.collectAllMetrics().flatMap { metric ->
        metric.histogramData.points.map { Triple(metric.name, it.count, it.attributes.asMap().mapKeys { (key, _) -> key.key }) }
    }.toSet()
}
