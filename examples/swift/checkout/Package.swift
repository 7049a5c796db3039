// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Checkout",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [.package(name: "Kassa", path: "../../../bindings/swift")],
    targets: [
        // A checkout on the command line.
        .executableTarget(
            name: "checkout",
            dependencies: [.product(name: "Kassa", package: "Kassa"), .product(name: "KassaSandbox", package: "Kassa")]
        ),
        // The model of a payment screen in an app.
        .target(
            name: "CheckoutApp", dependencies: [.product(name: "Kassa", package: "Kassa")], path: "App", exclude: ["README.md"]
        ),
        .testTarget(
            name: "CheckoutAppTests",
            dependencies: [
                "CheckoutApp", .product(name: "Kassa", package: "Kassa"), .product(name: "KassaSandbox", package: "Kassa"),
            ]
        ),
        .testTarget(
            name: "CheckoutTests",
            dependencies: ["checkout", .product(name: "KassaSandbox", package: "Kassa")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
