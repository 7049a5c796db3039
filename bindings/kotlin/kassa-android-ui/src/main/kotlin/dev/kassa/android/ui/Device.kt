package dev.kassa.android.ui

/** What a screen wants of the phone around it. */
internal interface Device {
    /** Opens the page of a bank in a browser's tab; false if there is no browser. */
    fun openPage(url: String): Boolean

    /** Opens the app of a bank by the text of a QR code, and never a browser; false if there is no such app. */
    fun openApp(link: String): Boolean

    /** Opens a link of a bank in its app, and in a browser's tab where there is no such app; false if there is neither. */
    fun openBank(link: String): Boolean = openApp(link) || openPage(link)

    /** Keeps a picture where the payer's bank finds it, and says then whether that went well; null if the payer thought better of it. */
    fun savePicture(png: ByteArray, saved: (Boolean?) -> Unit)

    fun copy(text: String)

    /** No screenshot, recording or list of recent apps shows the screen. */
    fun keepSecret(isSecret: Boolean)

    /** As bright as it gets, so that scanners read a code, and awake. */
    fun brighten(isBright: Boolean)
}
