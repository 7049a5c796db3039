import Foundation
import KassaClient
import ServerShop

// docs: begin main
let environment = ProcessInfo.processInfo.environment
guard let secret = environment["KASSA_EVENTS_SECRET"] else { fatalError("KASSA_EVENTS_SECRET is not set") }
let app = try Application(port: environment["PORT"].flatMap(UInt16.init) ?? 8000)
let shop = Shop(kassa: try .fromEnvironment(), eventsSecret: secret, address: app.address)
shop.routes(app)
app.start()
// docs: end main
print("the shop is at \(app.address)")
while true { try await Task.sleep(for: .seconds(3600)) }
