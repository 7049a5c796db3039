// swift-tools-version: 6.0
import PackageDescription

// SwiftPM names a package that is taken by its path after the last folder of that path.
let kassa = Target.Dependency.product(name: "Kassa", package: "swift")
let payment = Target.Dependency.product(name: "KassaCheckout", package: "swift")
let server = Target.Dependency.product(name: "KassaServerTesting", package: "swift")
let sandbox = Target.Dependency.product(name: "KassaSandbox", package: "swift")

// As in the package itself: libswiftObservation of Swift 6.0 for Linux names a function that no library has.
let observation: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "--allow-shlib-undefined"], .when(platforms: [.linux]))]

let package = Package(
    name: "Checkout",
    platforms: [.macOS(.v14), .iOS(.v17)],
    dependencies: [.package(path: "../../../bindings/swift")],
    targets: [
        // Programs on the command line: one for each kind of payment.
        .executableTarget(name: "checkout", dependencies: [kassa]),
        // An app, whose payments go through the merchant's server.
        .target(name: "CheckoutApp", dependencies: [kassa, payment], path: "App", exclude: ["README.md"]),
        .testTarget(name: "CheckoutTests", dependencies: ["checkout", sandbox]),
        .testTarget(name: "CheckoutAppTests", dependencies: ["CheckoutApp", kassa, payment, sandbox, server], linkerSettings: observation),
    ],
    swiftLanguageModes: [.v6]
)
