package dev.kassa.android.ui

/** What a screen wants of the phone around it. */
internal interface Device {
    /** Opens the page of a bank in a browser's tab; false if there is no browser. */
    fun openPage(url: String): Boolean

    /** Opens the app of a bank by the text of a QR code, and never a browser; false if there is no such app. */
    fun openApp(link: String): Boolean

    /** Opens a bank's link in its app, or in a browser tab if there is no such app; false if neither is there. */
    fun openBank(link: String): Boolean = openApp(link) || openPage(link)

    /** Saves a picture where the payer's bank app finds it, and reports success; null if the payer cancelled. */
    fun savePicture(png: ByteArray, saved: (Boolean?) -> Unit)

    fun copy(text: String)

    /** No screenshot, recording or list of recent apps shows the screen. */
    fun keepSecret(isSecret: Boolean)

    /** As bright as it gets, so that scanners read a code, and awake. */
    fun brighten(isBright: Boolean)
}
