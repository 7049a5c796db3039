package dev.kassa.shop

import android.content.Context
import android.graphics.BitmapFactory
import android.text.InputType
import android.view.View
import android.view.View.GONE
import android.view.View.VISIBLE
import android.widget.Button
import android.widget.EditText
import android.widget.ImageView
import android.widget.LinearLayout
import android.widget.ScrollView
import android.widget.TextView
import dev.kassa.Card
import dev.kassa.QrCode
import java.math.BigDecimal

private const val PADDING = 48
private const val QR_PIXELS = 600
private const val DIGITS = InputType.TYPE_CLASS_NUMBER
private const val SECRET_DIGITS = InputType.TYPE_CLASS_NUMBER or InputType.TYPE_NUMBER_VARIATION_PASSWORD

/** The views of the checkout. They are made here, so that the example builds without Android's resource compiler. */
class CheckoutView(context: Context, price: BigDecimal) {
    /** What the payer wants. */
    var onPayByCard: (Card) -> Unit = {}
    var onPayByQr: () -> Unit = {}
    var onOpenPage: (String) -> Unit = {}
    var onAskAgain: () -> Unit = {}

    val message = TextView(context).apply { text = "One moment" }
    val pan = field(context, "Card number", DIGITS)
    val expiryMonth = field(context, "Month, two digits", DIGITS)
    val expiryYear = field(context, "Year, four digits", DIGITS)
    val cvc = field(context, "CVC", SECRET_DIGITS)
    val holderName = field(context, "Name on the card", InputType.TYPE_TEXT_FLAG_CAP_WORDS)
    val payByCard = button(context, "Pay $price KGS by card") { onPayByCard(card()) }
    val payByQr = button(context, "Pay $price KGS by QR code") { onPayByQr() }
    val openPage = button(context, "Confirm at your bank") { page?.let(onOpenPage) }
    val askAgain = button(context, "Ask again") { onAskAgain() }
    val qr = ImageView(context)

    private val cardFields = listOf(pan, expiryMonth, expiryYear, cvc, holderName)
    private val payViews = cardFields + payByCard + payByQr
    private var page: String? = null

    init {
        // There is nothing to pay with yet.
        (payViews + openPage + askAgain).forEach { it.isVisible = false }
    }

    /** The whole. */
    val root: View = ScrollView(context).apply {
        addView(
            LinearLayout(context).apply {
                orientation = LinearLayout.VERTICAL
                setPadding(PADDING, PADDING, PADDING, PADDING)
                (listOf(message) + payViews + openPage + qr + askAgain).forEach(::addView)
            },
        )
    }

    /** Shows what there is to see. */
    fun show(screen: Screen) {
        message.text = text(screen)
        payViews.forEach { it.isVisible = screen is Screen.Ready }
        page = (screen as? Screen.Confirm)?.page
        openPage.isVisible = page != null
        askAgain.isVisible = screen is Screen.StillOpen
        showQr((screen as? Screen.ShowQr)?.text)
        // Once the gateway has it, what was typed is not needed any more.
        if (screen !is Screen.Ready && screen !is Screen.Sending) cardFields.forEach { it.text.clear() }
    }

    /** Says something more. */
    fun tell(text: String) {
        message.text = text
    }

    private fun showQr(text: String?) {
        qr.isVisible = text != null
        val png = text?.let { QrCode.encode(it).png(QR_PIXELS) } ?: return qr.setImageDrawable(null)
        qr.setImageBitmap(BitmapFactory.decodeByteArray(png, 0, png.size))
    }

    private fun card() = Card(
        pan.text.toString(),
        expiryMonth.text.toString(),
        // What is no year is refused by name, with all else that is wrong.
        expiryYear.text.toString().toIntOrNull() ?: 0,
        cvc.text.toString(),
        holderName.text.toString(),
    )
}

private fun text(screen: Screen): String = when (screen) {
    is Screen.Ready -> screen.message
    Screen.Sending -> "Sending your payment"
    is Screen.Waiting -> screen.message
    is Screen.Confirm -> "Your bank wants you to confirm the payment. Come back here when you have"
    is Screen.ShowQr -> "Scan this with the app of your bank"
    is Screen.StillOpen -> screen.message
    is Screen.PersonNeeded -> "${screen.message}. Do not pay again: ask the shop"
    is Screen.Paid -> "Paid: ${screen.price} KGS. Thank you"
}

private var View.isVisible: Boolean
    get() = visibility == VISIBLE
    set(isVisible) {
        visibility = if (isVisible) VISIBLE else GONE
    }

/** A field for a part of a card: what is typed into it goes into no instance state. */
private fun field(context: Context, label: String, type: Int) = EditText(context).apply {
    hint = label
    inputType = type
    isSaveEnabled = false
}

private fun button(context: Context, label: String, onClick: () -> Unit) = Button(context).apply {
    text = label
    setOnClickListener { onClick() }
}
