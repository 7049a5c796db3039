import Foundation
import Kassa

/// Shows a QR code for some som in the terminal, and waits until it is paid.
func showQr(_ som: String) async throws {
    let gateway = try openShop()
    let payment = QrPayment(sumTyiyn: try somToTyiyn(Decimal(exactly: som)))
    let data = try await gateway.createQrData(payment)  // in the journal before the code is shown
    guard let payload = data.payload, data.payment.canBeChecked else {
        return print("this gateway's response needs a dialect:", data.raw)
    }
    print(try QrCode(payload).text())
    print("scan it, or open:", payload)
    try await follow(data.payment, by: gateway)
}
