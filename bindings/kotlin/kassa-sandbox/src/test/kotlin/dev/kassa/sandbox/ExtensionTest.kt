package dev.kassa.sandbox

import dev.kassa.sandbox.junit.SandboxExtension
import dev.kassa.sandbox.junit.WithSandbox
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.RepeatedTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.junit.platform.engine.discovery.DiscoverySelectors.selectClass
import org.junit.platform.testkit.engine.EngineTestKit

class ExtensionTest {
    @Test
    fun `run has one process for each kind of sandbox, and each test an empty one`() {
        val run = EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(Shared::class.java), selectClass(Other::class.java))
            .execute()
        run.testEvents().assertStatistics { it.started(4).succeeded(4) }
        assertEquals(1, Shared.addresses.size)
        assertEquals(1, Other.addresses.size)
        assertFalse(Shared.addresses == Other.addresses)
        for (pid in Shared.pids + Other.pids) assertFalse(ProcessHandle.of(pid).isPresent)
    }

    /** Each of its tests leaves a payment behind and kills the sandbox. */
    @WithSandbox
    class Shared {
        @RepeatedTest(3)
        fun `nothing has happened yet`(sandbox: Sandbox) {
            addresses += sandbox.baseUrl
            pids += sandbox.pid!!
            assertEquals(emptyList<Payment>(), sandbox.ledger())
            Shop(sandbox).payByCard("order-1")
            sandbox.kill()
        }

        companion object {
            val addresses = mutableSetOf<String>()
            val pids = mutableSetOf<Long>()
        }
    }

    class Other {
        @Test
        fun `options are kept`(sandbox: Sandbox) {
            addresses += sandbox.baseUrl
            pids += sandbox.pid!!
            assertEquals(DialectName.OTHER, sandbox.switches.read().actsAs)
        }

        companion object {
            val addresses = mutableSetOf<String>()
            val pids = mutableSetOf<Long>()

            @JvmField
            @RegisterExtension
            val sandbox = SandboxExtension(SandboxOptions(actsAs = DialectName.OTHER))
        }
    }
}
