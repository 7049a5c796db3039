package dev.kassa.android.ui

import android.content.ActivityNotFoundException
import android.content.ClipData
import android.content.ClipboardManager
import android.net.Uri
import android.os.Build
import android.view.WindowManager.LayoutParams
import androidx.activity.ComponentActivity
import androidx.activity.result.contract.ActivityResultContracts
import androidx.browser.customtabs.CustomTabsIntent
import androidx.lifecycle.lifecycleScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

/** Each picture has a name of its own: of one name, Android makes no more than some thirty. */
private fun fileName() = "payment-qr-${System.currentTimeMillis()}.png"

/** The phone itself. */
internal class Phone(private val activity: ComponentActivity) : Device {
    private var picture: Pair<ByteArray, (Boolean?) -> Unit>? = null
    private val newDocument =
        activity.registerForActivityResult(ActivityResultContracts.CreateDocument("image/png"), ::chosen)

    override fun openPage(url: String): Boolean = starts {
        CustomTabsIntent.Builder().setShowTitle(true).build().launchUrl(activity, Uri.parse(url))
    }

    override fun openApp(link: String): Boolean {
        val app = appFor(Uri.parse(link), activity.packageManager) ?: return false
        return starts { activity.startActivity(app) }
    }

    override fun savePicture(png: ByteArray, saved: (Boolean?) -> Unit) {
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) return write(png, saved) { newPicture(activity.contentResolver, fileName()) }
        // Before, an app needs a permission for pictures. Where the payer chooses the place, it needs none.
        picture = png to saved
        if (!starts { newDocument.launch(fileName()) }) saved(false)
    }

    override fun copy(text: String) {
        val clipboard = activity.getSystemService(ClipboardManager::class.java)
        clipboard?.setPrimaryClip(ClipData.newPlainText(null, text))
    }

    override fun keepSecret(isSecret: Boolean) = flag(LayoutParams.FLAG_SECURE, isSecret)

    override fun brighten(isBright: Boolean) {
        flag(LayoutParams.FLAG_KEEP_SCREEN_ON, isBright)
        activity.window.attributes = activity.window.attributes.apply {
            screenBrightness = if (isBright) LayoutParams.BRIGHTNESS_OVERRIDE_FULL else LayoutParams.BRIGHTNESS_OVERRIDE_NONE
        }
    }

    private fun chosen(place: Uri?) {
        val (png, saved) = picture ?: return
        picture = null
        if (place == null) saved(null) else write(png, saved) { place }
    }

    private fun write(png: ByteArray, saved: (Boolean?) -> Unit, place: () -> Uri?) {
        activity.lifecycleScope.launch {
            saved(withContext(Dispatchers.IO) { write(activity.contentResolver, png, place) })
        }
    }

    private fun flag(flag: Int, isOn: Boolean) = activity.window.setFlags(if (isOn) flag else 0, flag)

    private inline fun starts(start: () -> Unit): Boolean = try {
        start()
        true
    } catch (_: ActivityNotFoundException) {
        false
    } catch (_: SecurityException) {
        // It is there, and not for other apps.
        false
    }
}
