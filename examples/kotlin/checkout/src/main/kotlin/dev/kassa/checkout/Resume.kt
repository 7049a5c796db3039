package dev.kassa.checkout

import dev.kassa.JournalState
import dev.kassa.Settled

/** Goes on with what other programs left behind, however they ended: `checkout resume`. A shop does it at every start. */
fun main() = checkout { gateway ->
    gateway.settle().collect { settled ->
        when (settled) {
            is Settled.Payment -> if (settled.entry.state == JournalState.CHARGED) {
                deliver(gateway, settled.entry)
            } else {
                println("${settled.entry.state}: ${settled.entry.payment} ${settled.entry.reason.orEmpty()}")
            }
            is Settled.Unreadable -> println("a person should look at ${settled.id}: it ${settled.why}")
        }
    }
}
