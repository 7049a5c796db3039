package dev.kassa.checkout

import dev.kassa.JournalState
import dev.kassa.Recovered

/** Goes on with what other programs left behind, however they ended: `checkout resume`. A shop does it at every start. */
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
