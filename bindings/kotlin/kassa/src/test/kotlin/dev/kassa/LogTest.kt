package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.withGateway
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.parallel.Isolated
import java.util.concurrent.CopyOnWriteArrayList

/** Where the log goes. That the JVM's logger gets it unless somebody else does is seen by the conformance run. */
@Isolated
class LogTest {
    @Test
    fun `a sink gets every exchange, and what it throws harms nothing`() = withGateway(CHARGED) { gateway, _ ->
        val events = CopyOnWriteArrayList<LogEvent>()
        try {
            Kassa.logTo { events += it; error("a sink that fails") }
            val report = runBlocking { gateway.providerStatus("logged-1", Provider.Cards) }
            assertEquals(PaymentStatus.Charged, report.status)
            Kassa.logTo(null)
            runBlocking { gateway.providerStatus("logged-2", Provider.Cards) }
        } finally {
            Library.logTo(SystemLog)
        }
        // A query that an earlier test has left may end meanwhile.
        val event = events.single { "logged-1" in it.text }
        assertEquals(LogLevel.DEBUG, event.level)
        assertTrue("http_status=200" in event.text, event.text)
        assertTrue(events.none { "logged-2" in it.text }, "$events")
    }
}
