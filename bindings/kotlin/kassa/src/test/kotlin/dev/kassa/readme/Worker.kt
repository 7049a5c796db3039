package dev.kassa.readme

import dev.kassa.*

suspend fun deliverUntil(stop: StopSignal, gateway: Gateway, deliver: suspend (note: String?) -> Unit) {
    val summary = gateway.deliverForever(stop) { entry -> deliver(entry.note) } // the entry is finished after this has returned
    println(summary) // 12 delivered; left open: 0 charged and not delivered, 1 undecided, 0 for a person
}

suspend fun deliverWhatIsPaid(gateway: Gateway, deliver: suspend (note: String?) -> Unit) {
    while (true) gateway.recover(RecoveryPolicy(followNew = true)).collect { recovered ->
        when (recovered) {
            is Recovered.Payment -> if (recovered.entry.state == JournalState.CHARGED) {
                deliver(recovered.entry.note)
                gateway.finish(recovered.entry)
            } else {
                println("${recovered.entry.state}, ${recovered.entry.reason}: ${recovered.entry.payment}") // not paid, or for a person
            }
            is Recovered.Unreadable -> println("a person should look at ${recovered.id}: it ${recovered.why}")
        }
    }
}
