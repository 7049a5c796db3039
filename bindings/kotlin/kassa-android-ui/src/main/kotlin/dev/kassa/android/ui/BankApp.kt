package dev.kassa.android.ui

import android.content.Intent
import android.content.pm.PackageManager
import android.net.Uri
import android.os.Build

/** A page that no app opens but a browser: example.com is reserved for examples (RFC 2606). */
private val ANY_PAGE = Uri.parse("https://example.com/")

/**
 * Opens a link in the app that handles it; null if there is none. **It never opens a browser**, which would show a web page of
 * the bank, or nothing, instead of the app.
 */
internal fun appFor(link: Uri, packages: PackageManager): Intent? {
    val view = viewing(link.normalizeScheme()).addFlags(Intent.FLAG_ACTIVITY_NEW_TASK)
    // From Android 11 on the system itself leaves browsers out. An app could not: it sees no others there that its manifest does not name.
    if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) return view.addFlags(Intent.FLAG_ACTIVITY_REQUIRE_NON_BROWSER)
    val browsers = packages.queryIntentActivities(viewing(ANY_PAGE), PackageManager.MATCH_ALL).map { it.activityInfo.packageName }.toSet()
    val apps = packages.queryIntentActivities(view, PackageManager.MATCH_DEFAULT_ONLY).map { it.activityInfo }
        .filter { it.exported && it.packageName !in browsers }
        .map { Intent(view).setClassName(it.packageName, it.name) }
    if (apps.size < 2) return apps.firstOrNull()
    return Intent.createChooser(apps.first(), null).putExtra(Intent.EXTRA_INITIAL_INTENTS, apps.drop(1).toTypedArray())
}

private fun viewing(link: Uri) = Intent(Intent.ACTION_VIEW, link).addCategory(Intent.CATEGORY_BROWSABLE)
