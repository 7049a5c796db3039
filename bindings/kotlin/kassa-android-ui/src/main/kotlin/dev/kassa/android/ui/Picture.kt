package dev.kassa.android.ui

import android.content.ContentResolver
import android.content.ContentValues
import android.net.Uri
import android.os.Build
import android.provider.MediaStore.Images.Media
import androidx.annotation.RequiresApi
import java.io.IOException

/** A place among the phone's pictures, which an app needs no permission for; null if there is none. */
@RequiresApi(Build.VERSION_CODES.Q)
internal fun newPicture(resolver: ContentResolver, name: String): Uri? {
    val values = ContentValues().apply {
        put(Media.DISPLAY_NAME, name)
        put(Media.MIME_TYPE, "image/png")
    }
    return resolver.insert(Media.getContentUri("external_primary"), values)
}

/** Writes a picture; false if that fails. */
internal fun write(resolver: ContentResolver, png: ByteArray, place: () -> Uri?): Boolean = try {
    val stream = place()?.let(resolver::openOutputStream)
    stream?.use { it.write(png) }
    stream != null
} catch (_: IOException) {
    false
} catch (_: SecurityException) {
    false
} catch (_: IllegalArgumentException) {
    // What a provider answers where there is no such storage.
    false
} catch (_: IllegalStateException) {
    // The same where it finds no free name.
    false
}
