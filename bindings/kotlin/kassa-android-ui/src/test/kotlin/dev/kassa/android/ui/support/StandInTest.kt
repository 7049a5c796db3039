package dev.kassa.android.ui.support

import dev.kassa.android.ui.KassaCheckout

/** The sheet in a state that a stand-in for the server tells. */
abstract class StandInTest : SheetTest() {
    /** The payments that any sheet of the run has requested. */
    protected val sent: List<String> get() = standIn.sent

    protected fun request(scene: Scene) = KassaCheckout.Request(standIn.url, scene.token, title = "Honey shop")

    private companion object {
        /** One for the whole run. */
        val standIn by lazy(::StandIn)
    }
}
