module shop {
    requires dev.kassa;
    requires kotlinx.coroutines.core; // with kotlin.stdlib: dev.kassa is an automatic module, and those name nothing that they need
}
