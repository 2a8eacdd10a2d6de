fn main() -> std::process::ExitCode {
    abide_tools::helper::main()
}
