package dev.kassa

import io.opentelemetry.api.OpenTelemetry
import io.opentelemetry.api.common.AttributeKey
import io.opentelemetry.api.common.Attributes
import io.opentelemetry.api.common.AttributesBuilder
import io.opentelemetry.api.metrics.DoubleHistogram
import io.opentelemetry.api.metrics.Meter
import io.opentelemetry.api.trace.Span
import io.opentelemetry.api.trace.SpanKind
import io.opentelemetry.api.trace.StatusCode
import io.opentelemetry.context.Context
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.DurationUnit
import kotlin.time.toJavaDuration

// A program that uses this has the API of OpenTelemetry. Nothing else may name this file's class.

/**
 * Makes spans and metrics of OpenTelemetry for each request to the gateway: `Kassa.onCall(OpenTelemetryObserver(openTelemetry))`. It needs
 * `io.opentelemetry:opentelemetry-api`, 1.33 or later, which the package does not bring along.
 *
 * A request is a span, a child of the span that is current where its call is made; each HTTP request of it is a child of that span. The
 * names, attributes and metrics are listed in `docs/telemetry.md`. Spans are made when a request has ended, with the times at which it
 * began and ended: no exporter runs on a payment's way.
 */
public class OpenTelemetryObserver(openTelemetry: OpenTelemetry) : CallObserver {
    private val tracer = openTelemetry.getTracer("dev.kassa")
    private val attempts: DoubleHistogram
    private val operations: DoubleHistogram

    init {
        val meter = openTelemetry.getMeter("dev.kassa")
        attempts = meter.seconds("http.client.request.duration", "Duration of HTTP client requests.")
        operations = meter.seconds(
            "kassa.client.operation.duration", "Duration of requests to the payment gateway, with their retries.",
        )
    }

    /** Captures the current span. */
    override fun forCall(): CallObserver {
        val caller = Context.current()
        return CallObserver { observe(it, caller) }
    }

    /** Makes the spans and the measurements of a request without a caller. */
    override fun onCall(call: CompletedCall): Unit = observe(call, Context.root())

    private fun observe(call: CompletedCall, caller: Context) {
        val operation = Attributes.builder().put(OPERATION, call.operation).put(OUTCOME, call.outcome)
        call.errorType?.let { operation.put(ERROR_TYPE, it) }
        val measured = operation.build()
        call.orderNumber?.let { operation.put(ORDER, it) }
        val span = tracer.spanBuilder(call.operation).setParent(caller).setSpanKind(SpanKind.INTERNAL)
            .setStartTimestamp(call.startedAt).setAllAttributes(operation.build()).startSpan()
        val context = caller.with(span)
        operations.record(call.duration.toDouble(DurationUnit.SECONDS), measured, context)
        call.attempts.forEachIndexed { number, attempt -> observe(call, attempt, number, context) }
        span.end(call.errorType, call.startedAt, call.duration)
    }

    private fun observe(call: CompletedCall, attempt: CallAttempt, number: Int, parent: Context) {
        val request = request(call, attempt)
        val measured = request.build()
        request.put(TEMPLATE, call.path)
        if (number > 0) request.put(RESEND_COUNT, number.toLong())
        val span = tracer.spanBuilder("${call.method} ${call.path}").setParent(parent).setSpanKind(SpanKind.CLIENT)
            .setStartTimestamp(attempt.startedAt).setAllAttributes(request.build()).startSpan()
        attempts.record(attempt.duration.toDouble(DurationUnit.SECONDS), measured, parent.with(span))
        span.end(attempt.errorType, attempt.startedAt, attempt.duration)
    }

    private fun request(call: CompletedCall, attempt: CallAttempt): AttributesBuilder {
        val request = Attributes.builder().put(METHOD, call.method)
            .put(SERVER_ADDRESS, call.serverAddress).put(SERVER_PORT, call.serverPort.toLong())
        attempt.httpStatus?.let { request.put(STATUS, it.toLong()) }
        attempt.errorType?.let { request.put(ERROR_TYPE, it) }
        return request
    }

    private fun Span.end(errorType: String?, startedAt: Instant, duration: Duration) {
        if (errorType != null) setStatus(StatusCode.ERROR)
        end(startedAt + duration.toJavaDuration())
    }

    private companion object {
        val OPERATION: AttributeKey<String> = AttributeKey.stringKey("kassa.operation")
        val OUTCOME: AttributeKey<String> = AttributeKey.stringKey("kassa.outcome")
        val ORDER: AttributeKey<String> = AttributeKey.stringKey("kassa.order")
        val ERROR_TYPE: AttributeKey<String> = AttributeKey.stringKey("error.type")
        val METHOD: AttributeKey<String> = AttributeKey.stringKey("http.request.method")
        val STATUS: AttributeKey<Long> = AttributeKey.longKey("http.response.status_code")
        val RESEND_COUNT: AttributeKey<Long> = AttributeKey.longKey("http.request.resend_count")
        val TEMPLATE: AttributeKey<String> = AttributeKey.stringKey("url.template")
        val SERVER_ADDRESS: AttributeKey<String> = AttributeKey.stringKey("server.address")
        val SERVER_PORT: AttributeKey<Long> = AttributeKey.longKey("server.port")

        /** What OpenTelemetry's conventions advise for `http.client.request.duration`. */
        val BOUNDARIES = listOf(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)

        fun Meter.seconds(name: String, description: String): DoubleHistogram = histogramBuilder(name)
            .setUnit("s").setDescription(description).setExplicitBucketBoundariesAdvice(BOUNDARIES).build()
    }
}
