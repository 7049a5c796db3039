package dev.kassa.android.ui

import org.junit.Assert.assertEquals
import org.junit.Test

class PhoneNumberTest {
    @Test
    fun `what people type, paste and fill in is read`() {
        for (typed in listOf("555123456", "0555123456", "0555 123 456", "+996 (555) 12-34-56", "996555123456", "00996555123456", "٠٥٥٥١٢٣٤٥٦")) {
            assertEquals(typed, "555123456", PhoneNumber.read(typed))
        }
        assertEquals("555", PhoneNumber.read("+996555"))
        assertEquals("996", PhoneNumber.read("996"))
        assertEquals("996755000", PhoneNumber.read("996755000"))
        assertEquals("", PhoneNumber.read("0"))
        assertEquals("a tenth digit is one too many", "555123456", PhoneNumber.read("5551234567"))
    }

    @Test
    fun `a number of another country is not cut to one of ours`() {
        for (typed in listOf("+7 999 123 45 67", "0079991234567", "79991234567", "+1 555 123 4567")) {
            assertEquals(typed, "", PhoneNumber.read(typed))
        }
    }

    @Test
    fun `it is shown in groups, and sent as one`() {
        assertEquals(listOf("", "5", "555", "555 1", "555 123 456"), listOf("", "5", "555", "5551", "555123456").map(PhoneNumber::shown))
        assertEquals("996555123456", PhoneNumber.sent("555123456"))
    }
}
