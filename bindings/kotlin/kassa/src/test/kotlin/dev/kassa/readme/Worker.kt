package dev.kassa.readme

import dev.kassa.*

suspend fun deliverWhatIsPaid(gateway: Gateway, deliver: suspend (note: String?) -> Unit) {
    while (true) gateway.settle(SettlePolicy(followNew = true)).collect { settled ->
        when (settled) {
            is Settled.Payment -> if (settled.entry.state == JournalState.CHARGED) {
                deliver(settled.entry.note)
                gateway.finish(settled.entry)
            } else {
                println("${settled.entry.state}, ${settled.entry.reason}: ${settled.entry.payment}") // not paid, or for a person
            }
            is Settled.Unreadable -> println("a person should look at ${settled.id}: it ${settled.why}")
        }
    }
}
