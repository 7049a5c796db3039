package dev.kassa.checkout

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import java.net.URI

/** The payer: a robot, or a person with a browser. */
class Payer(private val robot: Robot?) {
    val isRobot: Boolean get() = robot != null

    /**
     * Sends the payer to a page. What the robot does there is told as [story]; without forms it cannot do anything. Whatever happens
     * there, the status decides.
     */
    suspend fun go(narrator: Narrator, page: URI, story: String, forms: List<Form>?) {
        if (robot == null) return narrator.step("payer", "open $page in a browser and finish the payment there")
        if (forms == null) {
            val text = "the robot knows no one-time password for this payer: open $page yourself"
            return narrator.warn("payer", text)
        }
        narrator.step("payer", story)
        try {
            val visit = robot.visit(page, forms)
            if (visit == Visit.STAYED_THERE) narrator.step("payer", "the gateway shows the result on a page of its own")
        } catch (failure: Failure) {
            narrator.warn("payer", failure.message)
        }
    }

    /** Asks a person for a one-time password. */
    suspend fun askOtp(narrator: Narrator): String {
        narrator.step("payer", "type the one-time password that the phone received, then Enter:")
        val line = withContext(Dispatchers.IO) { readlnOrNull() }?.trim().orEmpty()
        return line.ifEmpty { throw Failure.Usage("no one-time password was given") }
    }
}
