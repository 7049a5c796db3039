// swift-tools-version: 6.0
import PackageDescription

// SwiftPM names a package that is taken by its path after the last folder of that path.
let client = Target.Dependency.product(name: "KassaClient", package: "swift")
let server = Target.Dependency.product(name: "KassaServerTesting", package: "swift")

let package = Package(
    name: "ServerShop",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "../../../bindings/swift")],
    targets: [
        .target(name: "ServerShop", dependencies: [client]),
        .executableTarget(name: "server-shop", dependencies: ["ServerShop", client]),
        .testTarget(name: "ServerShopTests", dependencies: ["ServerShop", client, server]),
    ],
    swiftLanguageModes: [.v6]
)
