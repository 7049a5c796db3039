package dev.kassa.android.ui

import android.app.Activity
import android.content.Intent
import android.os.Bundle

/**
 * Where payers come back from the page of a bank: it closes the page and brings the sheet to the front, which then has the gateway asked.
 * **The link itself is not read**: anybody can follow one.
 *
 * The app declares its link, and the shop names it as the checkout's `return_url`:
 *
 * ```xml
 * <activity
 *     android:name="dev.kassa.android.ui.ReturnActivity"
 *     android:exported="true">
 *     <intent-filter>
 *         <action android:name="android.intent.action.VIEW" />
 *         <category android:name="android.intent.category.DEFAULT" />
 *         <category android:name="android.intent.category.BROWSABLE" />
 *         <data android:scheme="my-shop" android:host="paid" />
 *     </intent-filter>
 * </activity>
 * ```
 *
 * Without it payers close the page themselves, and the sheet notices.
 */
public class ReturnActivity : Activity() {
    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val onTop = Intent.FLAG_ACTIVITY_CLEAR_TOP or Intent.FLAG_ACTIVITY_SINGLE_TOP
        startActivity(Intent(this, CheckoutActivity::class.java).addFlags(onTop))
        finish()
    }
}
