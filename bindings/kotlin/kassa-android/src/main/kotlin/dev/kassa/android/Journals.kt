@file:JvmName("Journals")

package dev.kassa.android

import android.content.Context
import dev.kassa.Journal
import dev.kassa.PaymentException
import java.io.File

/**
 * The app's journal, in [Context.getNoBackupFilesDir]: it stays on the phone on which the payments were made. A copy on another one, from
 * a backup or from the old phone, would list payments that the first one goes on with, and would not know what was sent since then.
 *
 * ```
 * val gateway = withContext(Dispatchers.IO) { Gateway(config, openJournal()) }
 * ```
 *
 * It reads the disk, so it is not for the thread that draws. What it lists is there after the app was killed or updated, until its data is
 * cleared. A folder serves one gateway and one merchant; an app that has two opens the second one's by itself:
 * `Journal.open(File(noBackupFilesDir, "second-shop"))`. In Java it is `Journals.openJournal(context)`.
 *
 * @throws PaymentException.Misconfigured where the folder cannot be made, read or written
 */
@Throws(PaymentException::class)
public fun Context.openJournal(): Journal = Journal.open(File(noBackupFilesDir, "kassa-journal"))
