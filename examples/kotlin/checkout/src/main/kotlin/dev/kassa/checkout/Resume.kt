package dev.kassa.checkout

import dev.kassa.JournalState
import dev.kassa.Recovered

/** Recovers the payments that other programs left unfinished, even after a crash: `checkout resume`. A shop does this at every start. */
fun main() = checkout { gateway ->
    gateway.recover().collect { recovered ->
        when (recovered) {
            is Recovered.Payment -> if (recovered.entry.state == JournalState.CHARGED) {
                deliver(gateway, recovered.entry)
            } else {
                println("${recovered.entry.state}: ${recovered.entry.payment} ${recovered.entry.reason.orEmpty()}")
            }
            is Recovered.Unreadable -> println("a person should look at ${recovered.id}: it ${recovered.why}")
        }
    }
}
