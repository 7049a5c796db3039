// swift-tools-version: 6.0
import PackageDescription

let kassa = Target.Dependency.product(name: "Kassa", package: "Kassa")
let sandbox = Target.Dependency.product(name: "KassaSandbox", package: "Kassa")

let package = Package(
    name: "Checkout",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [.package(name: "Kassa", path: "../../../bindings/swift")],
    targets: [
        // Programs on the command line: one for each kind of payment.
        .executableTarget(name: "checkout", dependencies: [kassa]),
        // The model of a payment screen in an app.
        .target(name: "CheckoutApp", dependencies: [kassa], path: "App", exclude: ["README.md"]),
        .testTarget(name: "CheckoutTests", dependencies: ["checkout", sandbox]),
        .testTarget(name: "CheckoutAppTests", dependencies: ["CheckoutApp", kassa]),
    ],
    swiftLanguageModes: [.v6]
)
